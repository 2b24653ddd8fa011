"""Measurements of the rockfall engine: throughput, penetration, random trials."""

"""Runs of a study: Monte Carlo plan, workers, cluster, merging of parts."""

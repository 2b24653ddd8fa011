"""Semismooth Newton on the Delassus matrix of one island, with a banded factorisation."""

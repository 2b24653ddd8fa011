"""Articulated islands: RATTLE, the articulated body algorithm, Newton on trees, stabilization."""

"""Points on the bottom of the intersection of two bodies, for penalty forces (PENALTY)."""

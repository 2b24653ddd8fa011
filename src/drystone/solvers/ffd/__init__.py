"""Fast frictional dynamics, the linear-time method of Kaufman et al. (FFD)."""

"""What looks suspicious about a world before it runs."""

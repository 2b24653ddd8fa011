"""What can be asked of a world at rest: rays, closest points, overlap."""

"""Triangle mesh against triangle mesh: BVH traversal, triangle pairs, reduction of the contacts."""

"""Triangle mesh against triangle mesh: BVH traversal, triangle pairs, reduction to a manifold."""

"""Worlds on disk: checkpoints, recordings, replay, pictures."""

"""Rockfall on triangle-mesh slopes: rigid rocks, hard contact, after ROCFALL."""

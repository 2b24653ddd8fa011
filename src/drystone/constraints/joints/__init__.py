"""Joints: rows of the contact problem that hold two bodies together; one file, one joint."""

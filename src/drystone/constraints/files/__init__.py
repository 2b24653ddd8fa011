"""Contact problems in files: ours, FCLIB's HDF5, Siconos' text."""

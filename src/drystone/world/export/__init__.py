"""Files that other programs read: HTML, glTF, USD, PLY, CSV, Parquet; and cells of notebooks."""

"""Trajectories as tables, CSV and Parquet: one row a body and frame, units in the names."""

import csv
import io
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError
from drystone.model.files import as_path, write_file
from drystone.world.export.drawing import Drawing

COLUMNS = ("time_s", "body", "name", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


def write_csv(drawing: Drawing, path) -> Path:
    """With a heading line; numbers in full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(zip(*(column.tolist() for column in columns(drawing).values()), strict=True))
    return write_file(as_path(path), text.getvalue().encode(), "the table cannot be written there")


def write_parquet(drawing: Drawing, path) -> Path:
    """Through pyarrow (the `export` extra)."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DrystoneError(
            "Parquet files need pyarrow. Install it with: pip install 'drystone[export]'"
        ) from None
    table = pyarrow.table({name: column.tolist() for name, column in columns(drawing).items()})
    content = io.BytesIO()
    parquet.write_table(table, content)
    return write_file(as_path(path), content.getvalue(), "the table cannot be written there")


def columns(drawing: Drawing) -> dict[str, np.ndarray]:
    """The columns, frame by frame; bodies that are not there have no row."""
    frames, count, _ = drawing.pose.shape
    pose = drawing.pose.reshape(-1, 7)
    there = ~np.isnan(pose[:, 0])
    which = np.tile(np.arange(count), frames)[there]
    time = np.repeat(drawing.times, count)[there]
    names = np.array(drawing.names, dtype=object)[which]
    return dict(zip(COLUMNS, (time, drawing.numbers[which], names, *pose[there].T), strict=True))

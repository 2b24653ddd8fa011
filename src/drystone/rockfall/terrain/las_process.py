"""Points of the ground of a LAS or LAZ file, in a process of its own (model/reading_apart.py)."""

import struct

import laspy
import numpy as np
import pyproj  # noqa: F401  here and not within the limits, where laspy would import it

GROUND = 2  # class of points on the ground (ASPRS)
MOST_POINTS = 30_000_000  # 24 bytes each, and 10 times that for the triangles


def main(path: str, out: str) -> None:
    """Write x, y, z of the ground, how many points there are, and the system."""
    judge_records(path)
    with laspy.open(path) as file:
        count = file.header.point_count
        if count > MOST_POINTS:
            raise ValueError(
                f"it holds {count:,} points, must hold at most {MOST_POINTS:,}. Thin it or cut "
                f"it, for example with pdal."
            )
        cloud, crs = file.read(), file.header.parse_crs()
    if len(cloud) != count:
        raise ValueError(f"it ends after {len(cloud):,} of its {count:,} points.")
    ground = np.asarray(cloud.classification) == GROUND
    places = np.array([np.asarray(axis)[ground] for axis in (cloud.x, cloud.y, cloud.z)])
    text = "" if crs is None else crs.to_wkt()
    with open(out, "wb") as stream:
        for array in (places.astype(np.float64), np.array(count), np.array(text)):
            np.save(stream, array, allow_pickle=False)


def judge_records(path: str) -> None:
    """The header (ASPRS LAS 1.4, table 3) may claim no more records than fit in the file."""
    with open(path, "rb") as file:
        head = file.read(375).ljust(375, b"\0")
        size = file.seek(0, 2)
    (records,) = struct.unpack_from("<I", head, 100)
    extended = struct.unpack_from("<I", head, 243)[0] if head[25] >= 4 else 0
    if 54 * records + 60 * extended > size:
        raise ValueError(
            f"its header claims {records + extended:,} records, too many for {size:,} bytes."
        )

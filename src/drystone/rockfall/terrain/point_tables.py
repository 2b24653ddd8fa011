"""Points in text tables: CSV files whose first line names the columns.

Columns are parted by semicolons, tabs, commas or blanks. Where commas do not part them, a comma in
a number is a decimal one, as spreadsheets of half of Europe write it.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.input_files import read_utf8
from drystone.rockfall.optional_packages import load

SUFFIXES = (".csv", ".tsv", ".txt")
PLACES = {
    "x": ("x", "x_m", "x_coord", "e", "east", "easting"),
    "y": ("y", "y_m", "y_coord", "n", "north", "northing"),
    "z": ("z", "z_m", "elevation"),
}
DEGREES = {"x": ("lon", "long", "longitude"), "y": ("lat", "latitude")}


class PointTable(NamedTuple):
    """A table of text: `rows` have as many entries as `head`, `lines` are their numbers."""

    name: str  # of the file
    head: list[str]
    rows: list[list[str]]
    lines: list[int]
    decimal: str  # "," or "."

    def numbers(self, column: int) -> np.ndarray:
        """(n,) of a column; InputError that names the line of what is no number."""
        values = np.empty(len(self.rows))
        for k, row in enumerate(self.rows):
            try:
                values[k] = float(row[column].replace(self.decimal, "."))
            except ValueError:
                raise InputError(
                    f"{self.name}, line {self.lines[k]}: {self.head[column]} is "
                    f"{row[column][:40]!r}; every line must hold a number there."
                ) from None
        return values

    def values(self, column: int) -> np.ndarray:
        """A column as numbers where all of it are, else as text."""
        try:
            return self.numbers(column)
        except InputError:
            return np.array([row[column] for row in self.rows], dtype=object)


def read_point_table(path: Path, unnamed: Sequence[str] = ()) -> PointTable:
    """The table in a text file.

    unnamed  names of the columns of a file that begins with numbers; without them it is refused
    """
    text = read_utf8(path)
    lines = [(k + 1, line) for k, line in enumerate(text.splitlines()) if line.strip()]
    if not lines:
        raise InputError(f"{path.name} is empty.")
    mark = max(";\t,", key=lines[0][1].count)
    try:
        split = (
            list(csv.reader((line for _, line in lines), delimiter=mark))
            if mark in lines[0][1]
            else [line.split() for _, line in lines]
        )
    except csv.Error as error:  # an entry of more than 131,072 letters
        raise InputError(f"{path.name} cannot be read as a table: {error}.") from None
    if len(split) < len(lines):
        raise InputError(f"{path.name}: an entry in quotes reaches over the end of its line.")
    rows = [[word.strip() for word in row] for row in split]
    decimal = "." if mark == "," and mark in lines[0][1] else ","
    numbers = [number for number, _ in lines]
    if all(_is_number(word, decimal) for word in rows[0]):
        if not unnamed:
            raise InputError(
                f"{path.name}: its first line must name the columns, x and y among them, but "
                f"begins with {rows[0][0][:20]}."
            )
        width = len(rows[0])
        head = [*unnamed, *(f"column {k + 1}" for k in range(len(unnamed), width))][:width]
    else:
        head, rows, numbers = rows[0], rows[1:], numbers[1:]
    for number, row in zip(numbers, rows, strict=True):
        if len(row) != len(head):
            raise InputError(
                f"{path.name}, line {number}: has {len(row)} entries, must have {len(head)} like "
                f"the first."
            )
    return PointTable(path.name, head, rows, numbers, decimal)


def _is_number(word: str, decimal: str) -> bool:
    try:
        float(word.replace(decimal, "."))
    except ValueError:
        return False
    return True


def read_points(path: Path, unnamed: Sequence[str] = ()) -> tuple:
    """(n,) points, {name: column} of the table, and the system: degrees for lon and lat, else None.

    With a column z all points have three coordinates.
    """
    shapely = load("shapely", "Geometry")
    table = read_point_table(path, unnamed)
    lower = [word.lower() for word in table.head]
    found, system = [_column(lower, PLACES[axis]) for axis in "xyz"], None
    if None in found[:2]:
        found, system = [_column(lower, DEGREES[axis]) for axis in "xy"] + found[2:], "EPSG:4326"
    if None in found[:2]:
        raise InputError(
            f"{path.name}: its first line must name the columns, x and y among them (or lon and "
            f"lat, in degrees), but names {', '.join(table.head)[:80]}."
        )
    places = np.column_stack([table.numbers(k) for k in found if k is not None])
    columns = {name: table.values(k) for k, name in enumerate(table.head)}
    return shapely.points(places), columns, system


def _column(head: list[str], names: Sequence[str]) -> int | None:
    return next((head.index(name) for name in names if name in head), None)

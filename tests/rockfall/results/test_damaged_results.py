"""Folders of results that are damaged: what can be read is right, all else is one sentence."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyogrio")
arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
rasterio = pytest.importorskip("rasterio")

from drystone.errors import InputError  # noqa: E402
from drystone.rockfall.report.html import report_study  # noqa: E402
from drystone.rockfall.results.results import Results  # noqa: E402
from drystone.rockfall.results.tables import FILES  # noqa: E402
from drystone.rockfall.run.part_files import DamagedPart, pack_part, read_part  # noqa: E402
from fake_runs import run  # noqa: E402

ROAD = SimpleNamespace(name="road", points=[[-46.0, -50.0], [-46.0, 50.0]])
READERS = {
    "manifest.json": lambda results: results.manifest,
    "statistics.json": lambda results: results.statistics,
    "layout.json": lambda results: results.layout,
    "rasters/velocity_p95.tif": lambda results: results.raster("velocity_p95"),
    "rasters/terrain.tif": lambda results: (results.extent, results.raster("terrain")),
    **{FILES[name]: lambda results, name=name: results.table(name) for name in FILES},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole") / "out", count=40, lines=[ROAD]).folder


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "out")


def reads(folder, name):
    """Whether a file can still be read; anything but an InputError is a failure of the test."""
    try:
        READERS[name](Results(folder))
        return True
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) < 700
        return False


def test_whole_results_are_read(whole):
    assert all(reads(whole, name) for name in READERS)


DAMAGES = {
    "missing": None,
    "empty": b"",
    "zeros": bytes(3000),
    "text": b"not this",
    "not utf-8": b"\xff\xfe\x00{",
    "a list": b"[1, 2]",
    "an object": b"{}",
    "brackets": b"[" * 20_000,
    "5,000 digits": b'{"runs": ' + b"9" * 5000 + b"}",
    "a folder": "folder",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", READERS)
def test_files_replaced_by_others_are_one_sentence(folder, name, damage):
    path, content = folder / name, DAMAGES[damage]
    path.unlink()
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    assert not reads(folder, name)


@pytest.mark.parametrize("name", READERS)
def test_files_that_are_cut_off_or_flipped_are_a_result_or_one_sentence(folder, name):
    content = (folder / name).read_bytes()
    rng = np.random.default_rng(20)
    for k in range(30):
        place = int(rng.integers(len(content)))
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        (folder / name).write_bytes(content[:place] if k % 3 == 0 else flipped)
        reads(folder, name)


def test_a_flipped_bit_in_the_numbers_of_a_table_is_found(folder):
    """Pages have checksums: a changed number is not taken for a result."""
    path = folder / "trajectories.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    assert not reads(folder, "trajectories.parquet")


def test_tables_written_before_there_were_checksums_are_read(folder):
    table = parquet.read_table(folder / "runs.parquet")
    parquet.write_table(table, folder / "runs.parquet", compression="zstd")
    assert reads(folder, "runs.parquet")


def change(folder, name, *keys, to):
    content = json.loads((folder / name).read_text())
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    (folder / name).write_text(json.dumps(content))


@pytest.mark.parametrize("value", [None, [], {}, "text", -7, 1e300, True])
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("manifest.json", ("study",)), ("manifest.json", ("runs",)), ("manifest.json", ("seed",)),
        ("manifest.json", ("origin_m",)), ("manifest.json", ("finished",)),
        ("statistics.json", ("runs",)), ("statistics.json", ("runs", "runout_m", "p95")),
        ("statistics.json", ("lines", 0, "design", "good")),
        ("layout.json", ("lines", 0, "points")),
    ],
)  # fmt: skip
def test_entries_of_another_kind_are_one_sentence(folder, name, keys, value):
    change(folder, name, *keys, to=value)
    readable = reads(folder, name)
    kind = {"study": {}, "origin_m": [], "finished": True}.get(keys[-1], "none")
    assert readable == (type(value) is type(kind) and value == kind)


def replaced(folder, name, **columns):
    table = parquet.read_table(folder / name)
    for key, values in columns.items():
        table = table.set_column(table.column_names.index(key), key, arrow.array(values))
    parquet.write_table(table, folder / name)


def test_tables_with_other_columns_are_one_sentence(folder):
    replaced(folder, "runs.parquet", mass_kg=["heavy"] * 40)
    assert not reads(folder, "runs.parquet")
    replaced(folder, "impacts.parquet", t_s=np.full(200, 1e300))
    assert not reads(folder, "impacts.parquet")
    table = parquet.read_table(folder / "line_crossings.parquet").drop_columns(["run"])
    parquet.write_table(table, folder / "line_crossings.parquet")
    assert not reads(folder, "line_crossings.parquet")
    with pytest.raises(InputError, match="column of runs is 'mas_kg'.*'mass_kg'"):
        Results(folder).table("runs", ["mas_kg"])


def test_a_table_that_declares_gigabytes_is_judged_before_it_is_read(folder):
    table = parquet.read_table(folder / "impacts.parquet").slice(0, 1)
    many = table.take(arrow.array(np.zeros(500_000, dtype=np.int64)))
    with parquet.ParquetWriter(folder / "impacts.parquet", table.schema) as writer:
        for _ in range(8):
            writer.write_table(many)
    assert (folder / "impacts.parquet").stat().st_size < 1_000_000
    with pytest.raises(InputError, match="it declares .* MB, more than its"):
        Results(folder).table("impacts")


@pytest.mark.parametrize("name", ["terrain", "velocity_p95"])
def test_a_raster_that_declares_gigabytes_is_judged_before_it_is_read(folder, name):
    with rasterio.open(
        folder / "rasters" / f"{name}.tif", "w", driver="GTiff", dtype="float32", count=1,
        width=60_000, height=60_000, transform=rasterio.Affine(1, 0, 2.6e6, 0, -1, 1.2e6),
        sparse_ok=True, tiled=True, blockxsize=4096, blockysize=4096,
    ):  # fmt: skip
        pass
    with pytest.raises(InputError, match="60,?000 x 60,?000 cells"):
        Results(folder).raster(name)


def test_a_part_whose_header_is_damaged_is_one_sentence(tmp_path):
    import hashlib

    path = tmp_path / "a.part"
    content = pack_part({"runs": np.arange(9)})
    for old, new in ((b"<i8", b"<q9"), (b"[9]", b"[x]"), (b'"offset"', b'"offsex"')):
        body = content[40:].replace(old, new)
        path.write_bytes(content[:8] + hashlib.sha256(body).digest() + body)
        with pytest.raises(DamagedPart, match="a.part is damaged"):
            read_part(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "keys", "value"),
    [
        ("manifest.json", ("code",), None), ("manifest.json", ("study", "title"), 7),
        ("manifest.json", ("inputs",), {"a": 3}), ("statistics.json", ("lines",), []),
    ],
)  # fmt: skip
def test_reports_of_odd_results_are_written(folder, name, keys, value):
    change(folder, name, *keys, to=value)
    assert report_study(Results(folder)).stat().st_size > 10_000

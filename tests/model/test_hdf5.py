"""HDF5 files that lead elsewhere, or that claim more than they hold."""

import io
import zlib

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.model import hdf5

BOMB = 400_000_000  # numbers: 3 GB


def opened(path):
    return hdf5.open_file(path, path.stat().st_size)


def secret(tmp_path):
    (tmp_path / "secret.bin").write_bytes(np.arange(4.0).tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.arange(4.0)
    return tmp_path / "secret.bin", tmp_path / "secret.h5"


def external_storage(file, raw, other):
    file.create_dataset("x", (4,), "f8", external=[(str(raw), 0, 32)])


def external_link(file, raw, other):
    file["x"] = h5py.ExternalLink(str(other), "x")


def soft_link(file, raw, other):
    file["x"] = h5py.SoftLink("/y")


def virtual(file, raw, other):
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource(str(other), "x", shape=(4,))
    file.create_virtual_dataset("x", layout)


LEADING_OUT = [external_storage, external_link, soft_link, virtual]


@pytest.mark.parametrize("make", LEADING_OUT)
@pytest.mark.parametrize("inside", [False, True])
def test_nothing_outside_of_the_file_is_reached(tmp_path, make, inside):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["y"] = np.zeros(4)
        make(file.create_group("deep/er") if inside else file, *secret(tmp_path))
    with pytest.raises(ds.InputError, match="to another place|from another file"):
        opened(path)


@pytest.mark.parametrize("make", LEADING_OUT)
def test_every_reader_refuses_it(tmp_path, make):
    """Also where the array is one that the reader would not even look at."""
    world = ds.World()
    world.add_body(ds.Sphere(1), ds.Material())
    world.save(tmp_path / "world.h5")
    with ds.record(world, tmp_path / "recording.h5"):
        world.step()
    world.problem().save(tmp_path / "problem.h5")
    readers = {
        "world": ds.World.load, "recording": ds.replay, "problem": ds.ContactProblem.load,
    }  # fmt: skip
    for name, reader in readers.items():
        path = tmp_path / f"{name}.h5"
        with h5py.File(path, "r+") as file:
            make(file, *secret(tmp_path))
            file.move("x", "more") if make is soft_link else None
        with pytest.raises(ds.InputError, match=f"{name}.h5: .*another (place|file)"):
            reader(path)


def test_the_same_group_twice_is_no_endless_tree(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("a")["again"] = file["/"]
        file["a/x"] = np.ones(3)
    with opened(tmp_path / "a.h5") as file:
        assert hdf5.read_numbers(file, "a/x").tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "options",
    [{}, {"chunks": (1 << 20,)}, {"chunks": (1 << 20,), "compression": "gzip"}, {"fillvalue": 1.0}],
)
def test_what_is_only_claimed_is_refused_before_it_is_read(tmp_path, options):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (BOMB,), "f8", **options)
    with pytest.raises(ds.InputError, match=f"x claims {BOMB} numbers"):
        opened(tmp_path / "a.h5")


def test_many_claims_count_together(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for k in range(40):
            file.create_dataset(f"x{k}", (1 << 20,), "u1")
    with pytest.raises(ds.InputError, match="claims 1048576 numbers"):
        opened(tmp_path / "a.h5")


def test_a_chunk_larger_than_its_array_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (8,), "f8", maxshape=(None,), chunks=(1 << 28,))
    with pytest.raises(ds.InputError, match="x claims"):
        opened(tmp_path / "a.h5")


def test_a_chunk_that_unpacks_to_more_than_it_holds_is_refused(tmp_path):
    """HDF5 would unpack all of it: a megabyte becomes a gigabyte."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        x = file.create_dataset("x", (8,), "f8", chunks=(8,), compression="gzip")
        x.id.write_direct_chunk((0,), zlib.compress(bytes(50_000_000)))
    with opened(path) as file, pytest.raises(ds.InputError, match="more is packed"):
        hdf5.read_array(file, "x")


def test_other_packings_are_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=np.zeros(1000), compression="lzf")
    with opened(tmp_path / "a.h5") as file, pytest.raises(ds.InputError, match="packed by filter"):
        hdf5.read_array(file, "x")


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<i4", "u1", "?"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_packed_arrays_come_back(kind, shuffle):
    rng = np.random.default_rng(1)
    array = rng.integers(0, 2 if kind == "?" else 100, (70, 13)).astype(kind)
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.create_dataset("x", data=array, chunks=(32, 5), compression="gzip", shuffle=shuffle)
        file.create_dataset("part", (70,), kind, chunks=(32,), compression="gzip", fillvalue=1)
        file["part"][40:50] = 0
        expected = file["part"][()]
    with hdf5.open_file(stream, len(stream.getvalue())) as file:
        found = hdf5.read_array(file, "x", "biuf")
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)
        np.testing.assert_array_equal(hdf5.read_array(file, "part", "biuf"), expected)


@pytest.mark.parametrize("value", [np.zeros(3), 1.5, "text", h5py.Empty("i8")])
def test_attributes_of_another_kind_get_a_sentence(tmp_path, value):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["count"] = value
    with opened(tmp_path / "a.h5") as file:
        for name in ("count", "none"):
            with pytest.raises(ds.InputError, match="its attribute"):
                hdf5.read_attribute(file, name, int)

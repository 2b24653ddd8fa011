"""What --verify must refuse: recordings that were changed, cut or emptied, with what is wrong."""

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli import app
from drystone.world.io import recorder

STONE = ds.Material(density=2600, friction=0.6)


def record_fall(path, steps=12, every=4):
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), STONE)
    for k in range(3):
        world.add_body(ds.Box(0.5, 0.4, 0.3), STONE, (0.1 * k, 0, 0.2 + 0.4 * k), name=f"stone-{k}")
    world.step()  # so that the first frame has the contacts of a step before it
    with ds.record(world, path, every=every):
        for k in range(steps):
            if k == 6:
                world["stone-1"].velocity = (0.1, 0, 0)
            world.step()
    return path


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return record_fall(tmp_path_factory.mktemp("good") / "fall.h5").read_bytes()


def shorten(name, length):
    return lambda file: file[name].resize(length, axis=0)


def change(name, value, field=None):
    def edit(file):
        rows = file[name][()]
        if field is None:
            rows = value(rows)
        else:
            rows[field] = value(rows[field])
        file[name][...] = rows

    return edit


def attribute(name, value):
    return lambda file: file.attrs.modify(name, value)


def both(*edits):
    return lambda file: [edit(file) for edit in edits]


def moved(rows):
    rows[-2, 0] += 1000.0
    return rows


TAMPERED = {
    "poses moved by a kilometre": (change("pose", moved), "stone-1 is at"),
    "a last digit of a pose": (change("pose", lambda x: np.nextafter(x, 1e9)), "stone-0 is at"),
    "energies zeroed": (change("frame", np.zeros_like, "kinetic"), "kinetic is 0"),
    "potential energies zeroed": (change("frame", np.zeros_like, "potential"), "potential is 0"),
    "body numbers reversed": (change("number", lambda x: x[::-1]), "row 0 is of body"),
    "hashes cut to three": (shorten("hash", 3), "frames up to step 13, but the hashes of only 3"),
    "hashes cut to none": (shorten("hash", 0), "frames up to step 13, but the hashes of only 0"),
    "cut to the start": (
        both(shorten("hash", 0), shorten("frame", 1), shorten("pose", 3), shorten("number", 3)),
        "nothing to compare",
    ),
    "no frames": (shorten("frame", 0), "it has no frame"),
    "cut to a half": (
        both(shorten("hash", 8), shorten("frame", 3), shorten("pose", 9), shorten("number", 9)),
        "hash is cut off: 12 rows were written, 8 are there",
    ),
    "a frame fewer": (shorten("frame", 3), "frame is cut off: 4 rows were written, 3"),
    "longer": (shorten("pose", 13), "pose has 13 rows, but only 12 were written"),
    "steps": (change("frame", lambda x: x - 1, "step"), "step is 0, must be 1"),
    "contacts": (change("frame", lambda x: x + 1, "contacts"), "contacts is"),
    "residuals": (change("frame", lambda x: x + 1.0, "residual"), "residual is"),
    "contacts of the first frame": (
        change("frame", lambda x: np.where(np.arange(4) > 0, x, 99), "contacts"), "was changed",
    ),
    "a last digit of an energy": (
        change("frame", lambda x: np.nextafter(x, 1e9), "potential"), "was changed since",
    ),
    "first rows": (change("frame", lambda x: x * 0, "first"), "first row is 0"),
    "the journal": (shorten("journal", 0), "hash"),
    "a hash": (change("hash", lambda x: x + np.uint64(1)), "has the hash"),
    "dt": (attribute("dt", 0.1), "dt is 0.1"),
    "every": (attribute("every", 2), "step is 5, must be 3"),
    "first_step": (attribute("first_step", 5), "first_step is 5"),
    "no seals": (shorten("seal", 0), "it has no seal"),
    "last seal": (change("seal", lambda x: x + np.uint64(1), "digest"), "was changed since"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_recordings_are_refused(tmp_path, good, name):
    edit, says = TAMPERED[name]
    path = tmp_path / "fall.h5"
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        edit(file)
    outcome = ds.replay(path)
    assert not outcome and not outcome.verified
    assert says in outcome.complaint and "fall.h5" in outcome.complaint
    done = CliRunner().invoke(app, ["replay", str(path), "--verify"])
    assert done.exit_code == 1 and says in done.output.replace("\n", " ")


def test_a_good_one_is_verified_without_reserve(tmp_path, good):
    (tmp_path / "fall.h5").write_bytes(good)
    outcome = ds.replay(tmp_path / "fall.h5")
    assert outcome and outcome.verified and outcome.steps == 12
    assert not outcome.complaint and not outcome.unchecked
    done = CliRunner().invoke(app, ["replay", str(tmp_path / "fall.h5"), "--verify"])
    assert done.exit_code == 0 and "12 steps run again, all bit for bit as recorded" in done.output


def test_a_recording_of_nothing_proves_nothing(tmp_path):
    outcome = ds.replay(record_fall(tmp_path / "fall.h5", steps=0))
    assert not outcome and not outcome.verified and "nothing to compare" in outcome.complaint


def test_one_that_was_never_closed_says_so(tmp_path, good):
    path = tmp_path / "fall.h5"
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        file["seal"].resize(len(file["seal"]) - 1, axis=0)
    outcome = ds.replay(path)
    assert outcome.verified and "never closed" in outcome.unchecked


def as_version_1(path, good):
    """What versions before seals wrote."""
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        del file["seal"]
        for name, value in (("version", 1), ("format", "drystone recording")):
            del file.attrs[name]
            file.attrs[name] = value
    return path


def test_recordings_without_seals_are_verified_as_far_as_it_goes(tmp_path, good):
    path = as_version_1(tmp_path / "old.h5", good)
    outcome = ds.replay(path)
    assert outcome.verified and "sealed nothing" in outcome.unchecked
    done = CliRunner().invoke(app, ["replay", str(path), "--verify"])
    assert done.exit_code == 0 and "could not be checked" in done.output.replace("\n", " ")
    with ds.Recording(path) as recording:
        assert len(recording) == 4


NEED_SEALS = ("cut off", "was changed", "rows, but", "seal")


@pytest.mark.parametrize(
    "name", [name for name in TAMPERED if not any(x in TAMPERED[name][1] for x in NEED_SEALS)]
)
def test_most_tampering_shows_without_seals(tmp_path, good, name):
    path = as_version_1(tmp_path / "old.h5", good)
    with h5py.File(path, "r+") as file:
        TAMPERED[name][0](file)
    assert TAMPERED[name][1] in ds.replay(path).complaint


def test_a_seal_cannot_be_taken_off(tmp_path, good):
    path = tmp_path / "fall.h5"
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        del file["seal"]
    with pytest.raises(ds.InputError, match="seal is missing"):
        ds.replay(path)


# Damage


@pytest.mark.slow
def test_flipped_bytes_give_a_result_or_a_sentence(tmp_path, good):
    rng, path = np.random.default_rng(3), tmp_path / "bad.h5"
    for k in range(150):
        damaged = bytearray(good)
        for at in rng.integers(len(good), size=1 + k % 3):
            damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged[: rng.integers(len(good)) if k % 10 == 0 else len(good)])
        try:
            with ds.Recording(path) as recording:
                for frame in range(len(recording)):
                    recording.positions(frame), recording.numbers(frame)
                recording.bodies()
            ds.replay(path)
        except ds.DrystoneError as error:
            assert "bad.h5" in str(error)


@pytest.mark.parametrize("kind", ["every", "dt", "first_step", "version", "format"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "x", np.nan, np.zeros(2), None])
def test_wrong_attributes_get_a_sentence(tmp_path, good, kind, value):
    path = tmp_path / "bad.h5"
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        del file.attrs[kind]
        if value is not None:
            file.attrs[kind] = value
    try:
        assert not ds.replay(path)
    except ds.InputError as error:
        assert "bad.h5" in str(error)


@pytest.mark.parametrize("name", recorder.ARRAYS)
@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2)), np.array(1), b"text", None])
def test_wrong_arrays_get_a_sentence(tmp_path, good, name, array):
    path = tmp_path / "bad.h5"
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        del file[name]
        if array is not None:
            file[name] = array
    with pytest.raises(ds.InputError, match=f"bad.h5: .*{name}"):
        ds.Recording(path)


def test_what_is_claimed_is_not_read(tmp_path, good):
    """3 GiB, claimed by a file of some kilobytes."""
    path = tmp_path / "bomb.h5"
    for name in ("pose", "hash", "frame", "journal"):
        path.write_bytes(good)
        with h5py.File(path, "r+") as file:
            file[name].resize(400_000_000, axis=0)
        with pytest.raises(
            ds.InputError, match=f"{name} claims 400000000|{name} claims 2800000000"
        ):
            ds.Recording(path)


def test_a_closed_reader_says_so(tmp_path, good):
    (tmp_path / "fall.h5").write_bytes(good)
    recording = ds.Recording(tmp_path / "fall.h5")
    recording.close()
    for call in (recording.refresh, recording.start, recording.journal, recording.verify):
        with pytest.raises(ds.InputError, match="was closed"):
            call()
    for k in ("a", 1.5, None):
        with pytest.raises(ds.InputError, match="must be an integer"):
            recording.positions(k)

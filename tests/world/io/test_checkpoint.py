"""Saving and loading: what is loaded goes on bit for bit, and no file can hurt."""

import os

import h5py
import numpy as np
import pytest

import drystone as ds
from checkpoint_edits import assert_same_arrays, described, edited, put, replace
from drystone.model.arrays import FILE_KINDS, MESH
from drystone.world.io.checkpoint import model_digest

STONE = ds.Material(density=2600, friction=0.6, restitution=0.1, name="stone")
ICE = ds.Material(density=900, friction=0.05)


def hull(rng, size):
    points = rng.normal(size=(14, 3))
    return ds.ConvexHull(size * points / np.linalg.norm(points, axis=1)[:, None] + (0.1, 0, 0.2))


def mixed_pile(place=(0.0, 0.0, 0.0), **options):
    """Every shape, falling on a plane, a terrain and a fixed box."""
    rng = np.random.default_rng(5)
    place = np.array(place)
    world = ds.World(**options)
    world.add_fixed(ds.Plane(normal=(0.05, 0.02, 1.0)), STONE, position=place, name="ground")
    world.add_fixed(ds.Box(1, 1, 1), ICE, place + (4, 0, 0.5), orientation=(0.8, 0, 0, 0.6))
    slope = np.array([[-9, -9, 0.5], [-4, -9, 0.0], [-4, 9, 0.0], [-9, 9, 0.5]])
    world.add_fixed(ds.Terrain(slope, [[0, 1, 2], [0, 2, 3]]), STONE, position=place)
    dumbbell = ds.Compound(
        (ds.Sphere(0.2), (0.3, 0, 0)), (ds.Box(0.6, 0.1, 0.1), (0, 0, 0), (0.6, 0, 0.8, 0))
    )
    shapes = [
        ds.Box(0.5, 0.4, 0.3), ds.Sphere(0.25), ds.Capsule(0.15, 0.4), ds.Cylinder(0.2, 0.3),
        hull(rng, 0.3), dumbbell,
    ]  # fmt: skip
    for k in range(12):
        q = rng.normal(size=4)
        world.add_body(
            shapes[k % len(shapes)], (STONE, ICE)[k % 2],
            position=place + (0.3 * (k % 4), 0.35 * (k % 3), 0.5 + 0.35 * k),
            orientation=q / np.linalg.norm(q), spin=rng.normal(size=3), name=f"stone-{k}",
        )  # fmt: skip
    world.add_body(ds.Box(3, 0.2, 0.2), STONE, position=place + (0, 0, 0.4), spin=(0, 0, 1),
                   kinematic=True, name="sweeper")  # fmt: skip
    world.exclude(world["stone-0"], world["stone-1"])
    world.set_pair(STONE, ICE, friction=0.3)
    return world


@pytest.mark.parametrize("place", [(0, 0, 0), (2_793_293.3, 1_180_191.7, 1500.1)])
def test_a_loaded_world_goes_on_bit_for_bit(tmp_path, place):
    """DEMAND B24: contacts, sleep, compounds, exclusions, after an earlier restore."""
    plain, saved = mixed_pile(place), mixed_pile(place)
    plain.run(1.5)
    for k in range(3):
        saved.run(0.5)
        saved.save(tmp_path / f"{k}.h5")
        saved = ds.World.load(tmp_path / f"{k}.h5")
    assert saved.hash() == plain.hash() and saved.step_count == plain.step_count
    assert_same_arrays(saved, plain)
    plain.run(0.5)
    saved.run(0.5)
    assert saved.hash() == plain.hash()


def test_sleepers_stay_asleep(tmp_path):
    world = ds.World()
    world.add_fixed(ds.Plane(), STONE)
    for k in range(3):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5 + k))
    world.run(1.5)
    assert all(body.asleep for body in world.bodies)
    world.save(tmp_path / "now.h5")
    again = ds.World.load(tmp_path / "now.h5")
    assert all(body.asleep for body in again.bodies)
    for each in (world, again):
        each.bodies[0].velocity = (0.5, 0, 0)
        assert not any(body.asleep for body in each.bodies)
        each.run(0.3)
    assert world.hash() == again.hash()


def test_everything_a_user_gave_comes_back(tmp_path):
    world = mixed_pile(dt=1 / 300, gravity=(0.1, 0, -9), tolerance=1e-7, sleep_delay=0.7)
    world["stone-3"].force = (1, 2, 3)
    world["stone-4"].mass = 77.0
    world["stone-5"].inertia = (9, 8, 7)
    world.run(0.05)
    world.save(tmp_path / "now.h5")
    again = ds.World.load(str(tmp_path / "now.h5"))
    assert again.settings == world.settings and again.solver == world.solver
    assert again.on_nonconverged == world.on_nonconverged and again.stepper == world.stepper
    assert again.step_count == 15 and again.time == world.time
    for old, new in zip((*world.bodies, *world.fixed), (*again.bodies, *again.fixed), strict=True):
        assert repr(old) == repr(new) and old.material == new.material
        for field in ("name", "number", "group", "mask"):
            assert getattr(old, field) == getattr(new, field)
    for old, new in zip(world.bodies, again.bodies, strict=True):
        for field in ("position", "orientation", "velocity", "spin", "force", "inertia"):
            np.testing.assert_array_equal(getattr(old, field), getattr(new, field))
        assert old.mass == new.mass and old.kinematic == new.kinematic
    for old, new in zip(world.model, again.model, strict=True):
        for one, two in zip(old or (), new or (), strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_loaded_world_can_be_edited(tmp_path):
    plain, loaded = mixed_pile(), mixed_pile()
    loaded.save(tmp_path / "now.h5")
    loaded = ds.World.load(tmp_path / "now.h5")
    for world in (plain, loaded):
        world.run(0.2)
        world.remove(world["stone-2"])
        world.add_body(ds.Sphere(0.3), ICE, position=(0, 0, 6))
        world.set_pair(STONE, ICE, friction=0.9)
        world["stone-7"].velocity = (1, 0, 0)
        world.run(0.3)
    assert plain.hash() == loaded.hash()
    assert [b.number for b in plain.bodies] == [b.number for b in loaded.bodies]


def test_saving_changes_nothing(tmp_path):
    plain, saved = mixed_pile(), mixed_pile()
    for _ in range(10):
        plain.step()
        saved.step()
        saved.save(tmp_path / "now.h5")
    assert plain.hash() == saved.hash()


def test_an_empty_world_can_be_saved(tmp_path):
    ds.World().save(tmp_path / "now.h5")
    world = ds.World.load(tmp_path / "now.h5")
    world.step()
    assert len(world) == 0 and world.step_count == 1


# Files


def test_a_failed_save_keeps_the_older_file(tmp_path, monkeypatch):
    world = mixed_pile()
    path = tmp_path / "now.h5"
    world.save(path)
    before = path.read_bytes()
    world.step()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ds.InputError, match="now.h5.*No space left on device"):
        world.save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["now.h5"]


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(ds.InputError, match="cannot be saved there: No such file"):
        ds.World().save(tmp_path / "nowhere" / "now.h5")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.h5"
    world = mixed_pile()
    world.run(0.6)
    world.save(path)
    return path.read_bytes()


def test_missing_foreign_and_cut_files_get_a_sentence(tmp_path, good):
    with pytest.raises(ds.InputError, match="there is no such file"):
        ds.World.load(tmp_path / "none.h5")
    with pytest.raises(ds.InputError, match="is a folder, must be a file"):
        ds.World.load(tmp_path)
    text = tmp_path / "text.h5"
    text.write_text("not a world")
    with pytest.raises(ds.InputError, match="text.h5: is damaged or no Drystone world"):
        ds.World.load(text)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(ds.InputError, match="other.h5: is no saved world"):
        ds.World.load(tmp_path / "other.h5")
    for length in (0, 100, len(good) // 2, len(good) - 1):
        cut = tmp_path / "cut.h5"
        cut.write_bytes(good[:length])
        with pytest.raises(ds.InputError, match="cut.h5"):
            ds.World.load(cut)


def test_flipped_bits_are_noticed(tmp_path, good):
    """Any flip is either harmless (unused bytes of the container) or said; never a crash."""
    rng = np.random.default_rng(2)
    path = tmp_path / "bad.h5"
    path.write_bytes(good)
    whole, noticed = ds.World.load(path), 0
    for _ in range(40):
        damaged = bytearray(good)
        damaged[rng.integers(len(good))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert_same_arrays(ds.World.load(path), whole)
        except ds.InputError as error:
            assert "bad.h5" in str(error)
            noticed += 1
    assert noticed > 10  # a third of the file are arrays


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.attrs.modify("version", 99),
        lambda file: file.attrs.create("version", "new"),
        lambda file: file.__delitem__("state/pair"),
        lambda file: file.__delitem__("description"),
        described(solver=["magic", {}]),
        described(solver=["nsgs", {"sweeps": 3}]),
        described(settings={"dt": -1.0}),
        described(settings={"step": 1.0}),
        described(settings={"max_sweeps": 1.5}),
        described(settings={"tolerance": float("nan")}),
        described(shapes=[{"is": "Blob"}]),
        described(shapes=[{"is": "Box", "x": -1, "y": 1, "z": 1}] * 20),
        described(shapes=[{"is": "Terrain"}] * 20),
        described(materials=[[-1, 0, 0, None]] * 3),
        described(bodies=["a"] * 3),
        described(bodies=["a"] * 99),
        described(excluded=[[1, 99]]),
        described(origin=[1, 2]),
        described(next_number=0),
        put("state/pair", 0, (0, 10_000)),
        put("state/pair", 0, (-1, 1)),
        put("state/pair_kept", 0, (0, 1_000_000)),
        put("state/pair_kept", 0, (-5, 1)),
        put("state/counter", 1, 10**9),
        put("state/counter", 0, -1),
        put("state/asleep", 0, 7),
        put("body/shape", 0, 1000),
        put("body/mass", 0, -1.0),
        put("body/inertia", 0, np.nan),
        put("body/number", 0, 4),
        replace("state/position", np.zeros((2, 3))),
        replace("state/twist", np.zeros((13, 6), np.float32)),
        replace("state/kept_point", np.zeros((0, 6))),
        put("arrays/0", 0, np.nan),
        put("arrays/1", 0, 10_000),
    ],
)
def test_hostile_files_get_a_sentence(tmp_path, good, change):
    path = edited(tmp_path / "hostile.h5", good, change)
    with pytest.raises(ds.InputError, match="hostile.h5"):
        ds.World.load(path)


@pytest.mark.parametrize("code", [1 + 8 * 6, 2 + 8 * 99, 3 + 8 * (1 + 99 * 2**24), 5, -1, np.nan])
def test_hostile_memories_get_a_sentence(tmp_path, code):
    """Two boxes have six faces and twelve edges each."""
    world = ds.World()
    for k in range(2):
        world.add_body(ds.ConvexHull(ds.Box(1, 1, 1).parts()[0].geometry.vertex), STONE, (0, 0, k))
    world.step()
    world.save(tmp_path / "good.h5")
    ds.World.load(tmp_path / "good.h5")
    path = edited(
        tmp_path / "hostile.h5", (tmp_path / "good.h5").read_bytes(),
        put("state/pair_axis", (0, 0), code),
    )  # fmt: skip
    with pytest.raises(ds.InputError, match="remember what is not there"):
        ds.World.load(path)


def test_a_mesh_is_checked_again(tmp_path):
    """A file may hold what Mesh() would never take: here a hole, and a face turned over."""
    box = ds.Box(1, 1, 1).surfaces()[0]
    faces = np.array([(f[0], f[k], f[k + 1]) for f in box.faces for k in range(1, len(f) - 1)])
    world = ds.World()
    world.add_body(ds.Mesh(box.vertices, faces), STONE)
    world.save(tmp_path / "good.h5")
    good = (tmp_path / "good.h5").read_bytes()
    with h5py.File(tmp_path / "good.h5") as file:
        name = next(f"arrays/{k}" for k in file["arrays"] if file[f"arrays/{k}"].shape == (12, 3))
        corners = file[name][()]
    turned = corners.copy()
    turned[0] = turned[0, ::-1]
    for bad, says in ((corners[1:], "is open"), (turned, "winding"), (corners[:, ::-1], "inside")):
        path = edited(tmp_path / "bad.h5", good, replace(name, np.ascontiguousarray(bad)))
        with pytest.raises(ds.InputError, match=f"bad.h5: .*{says}"):
            ds.World.load(path)


def test_what_is_only_claimed_is_not_read(tmp_path, good):
    """3 GiB in a file of some kilobytes, with and without packing; and a million bodies."""
    for options in ({}, {"chunks": (65536, 3), "compression": "gzip"}):

        def claim(file, options=options):
            del file["state/position"]
            file.create_dataset("state/position", (140_000_000, 3), "f8", **options)

        path = tmp_path / "bomb.h5"
        path.write_bytes(good)
        with h5py.File(path, "r+") as file:
            claim(file)
        with pytest.raises(ds.InputError, match="bomb.h5: state/position claims 420000000 numbers"):
            ds.World.load(path)
    path = edited(tmp_path / "many.h5", good, described(bodies=["a"] * 1_000_000))
    with pytest.raises(ds.InputError, match="many.h5: .*claims"):
        ds.World.load(path)


def test_a_world_so_regular_that_it_packs_to_nothing_can_be_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("drystone.model.hdf5.SPARE_BYTES", 0)
    monkeypatch.setattr("drystone.model.hdf5.LARGEST_RATIO", 9)
    world = ds.World()
    for k in range(300):
        world.add_body(ds.Sphere(0.1), STONE, position=(0, 0, k))
    world.save(tmp_path / "line.h5")
    assert ds.World.load(tmp_path / "line.h5").hash() == world.hash()


def test_other_last_digits_are_said(tmp_path, good):
    path = edited(tmp_path / "other.h5", good, lambda file: file.attrs.modify("model", "0" * 32))
    with pytest.warns(UserWarning, match="not bit for bit"):
        ds.World.load(path).step()


def test_a_world_that_was_saved_in_flight_still_finds_the_ground(tmp_path):
    """Saved with capacity for pairs but none in use, it fell through whatever it met next."""
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(restitution=0.7))
    ball = world.add_body(ds.Sphere(0.1), ds.Material(restitution=0.7), position=(0, 0, 1.1))
    while not (world.time > 0.5 and world.state.counter[1] == 0):  # COUNTER_PAIRS
        world.step()
        assert world.time < 2.0, "no moment without pairs after the first bounce"
    world.save(tmp_path / "flying.h5")
    again = ds.World.load(tmp_path / "flying.h5")
    world.run(1.0)
    again.run(1.0)
    assert ball.position[2] > 0.09 and again.hash() == world.hash()


def test_worlds_of_version_0_1_have_the_digest_that_they_were_saved_with():
    """Numbers of kinds, and arrays that have moved since, must not look like other last digits.

    Sizes are such that every processor computes the same arrays.
    """
    world = ds.World()
    world.add_fixed(ds.Plane(), stone := ds.Material(density=1000, friction=0.5))
    box = world.add_body(ds.Box(1, 1, 2), stone, position=(0, 0, 1))
    ball = world.add_body(ds.Sphere(0.5), stone, position=(1, 0, 1))
    world.add_body(ds.Cylinder(0.5, 1), stone, position=(4, 0, 1))
    world.add_body(ds.Capsule(0.25, 1), stone, position=(8, 0, 1))
    world.add_joint(ds.Ball(box, ball, point=(0.5, 0, 1)))
    assert model_digest(world.model) == "179e7787acb67709c71e6d9ddfc66770"
    assert sorted(FILE_KINDS) == list(range(MESH + 1))

"""A world with characters in it is saved, loaded, copied and goes on with the same bits."""

import json

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.world.io.checkpoint import world_from_image, world_image

pytestmark = pytest.mark.slow  # every one runs a figure


def actor_in(world, walk, **options):
    figure = ds.Figure.from_clip(walk)
    world.add_fixed(ds.Plane(), position=(0, 0, figure.ground), group=2)
    mask = ~2 if options.get("root", "follow") == "follow" else -1
    return world.add_character(figure, walk, mask=mask, **options)


def disturb(world):
    """A ball, a push and a weight, from now on."""
    actor = world.characters[0]
    actor.throw("right_elbow", 2.0, 8.0, distance=0.4)
    actor.body("chest").push((0, 3.0, 0))
    world.run(0.1)
    actor.load("left_elbow", 1.0)
    world.run(0.2)


@pytest.mark.parametrize("options", [{}, {"root": "free"}, {"root": "assisted", "feedback": False}])
def test_a_loaded_world_goes_on_with_the_same_bits(tmp_path, walk, options):
    world = ds.World(sleeping=False)
    actor = actor_in(world, walk, **options)
    actor.body("left_elbow").force = (0, 0, 5.0)
    world.run(0.15)
    world.save(tmp_path / "walk.h5")
    disturb(world)
    again = ds.World.load(tmp_path / "walk.h5")  # a warning about other digits is an error here
    assert len(again.characters) == 1
    disturb(again)
    assert again.hash() == world.hash()
    one, other = world.characters[0], again.characters[0]
    for name in ("error", "torque", "power", "root_error", "root_force", "times"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.positions(), other.positions())
    assert one.summary() == other.summary() and str(one.fall()) == str(other.fall())
    assert np.array_equal(one.torques.torque, other.torques.torque)
    assert other.figure.names == one.figure.names and other.gains == one.gains


def test_a_clip_that_is_over_and_a_second_figure_are_saved_too(tmp_path, walk):
    world = ds.World(sleeping=False)
    short = walk.trimmed(0.0, 0.1)
    actor_in(world, short)
    world.run(0.15)  # longer than the clip
    world.add_character(ds.Figure.from_clip(walk), walk, name="second", mask=0)
    world.run(0.05)
    world.save(tmp_path / "two.h5")
    again = ds.World.load(tmp_path / "two.h5")
    for one in (world, again):
        one.run(0.2)
    assert again.hash() == world.hash()
    assert [actor.done for actor in again.characters] == [actor.done for actor in world.characters]
    again.save(tmp_path / "twice.h5")
    third = ds.World.load(tmp_path / "twice.h5")
    world.run(0.05)
    third.run(0.05)
    assert third.hash() == world.hash()


def test_a_copy_and_a_snapshot_go_on_with_the_same_bits(walk):
    world = ds.World(sleeping=False)
    actor_in(world, walk)
    world.run(0.1)
    other, kept = world.copy(), world.snapshot()
    disturb(world)
    disturb(other)
    assert other.hash() == world.hash()
    assert np.array_equal(other.characters[0].error, world.characters[0].error)
    assert other.characters[0]._world is other
    fresh = world_from_image(world_image(other), "copy")
    assert fresh.hash() == other.hash()
    with pytest.raises(ds.InputError, match="edited"):
        world.restore(kept)


def test_a_loaded_world_is_recorded_and_replayed(tmp_path, walk):
    world = ds.World(sleeping=False)
    actor_in(world, walk)
    world.run(0.1)
    world.save(tmp_path / "walk.h5")
    again = ds.World.load(tmp_path / "walk.h5")
    with ds.record(again, tmp_path / "run.h5"):
        disturb(again)
    disturb(world)
    assert again.hash() == world.hash()
    replayed = ds.replay(tmp_path / "run.h5")
    assert replayed and replayed.verified, replayed.complaint


def damaged(image, change):
    """The bytes of a world whose description was changed, with a checksum that fits."""
    from drystone.world.io import checkpoint

    with h5py.File("d", "w", driver="core", backing_store=False) as copy:
        import io

        with h5py.File(io.BytesIO(image), "r") as file:
            for name in file:
                file.copy(name, copy)
            attributes = dict(file.attrs)
        text = json.loads(np.array(copy["description"]).tobytes())
        change(text["characters"][0])
        del copy["description"]
        copy["description"] = np.frombuffer(json.dumps(text).encode(), np.uint8)
        attributes["checksum"] = checkpoint._checksum(copy)
        for name, value in attributes.items():
            copy.attrs[name] = value
        copy.flush()
        return copy.id.get_file_image()


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(root="fly"),
        lambda c: c.update(bodies=c["bodies"][:-1]),
        lambda c: c["bodies"].__setitem__(0, 99),
        lambda c: c["joints"].__setitem__(0, c["joints"][1]),
        lambda c: c.update(first=-3),
        lambda c: c["plan"].update(target=c["plan"]["speed"], speed=c["plan"]["after"]),
        lambda c: c["plan"].update(mode=c["plan"]["parent"]),
        lambda c: c["history"].update(error=c["plan"]["damping"]),
        lambda c: c["torques"].update(names=["tail"]),
        lambda c: c["clip"].update(parents=[-1] * len(c["clip"]["names"])),
        lambda c: c["clip"].update(rotations=c["clip"]["positions"]),
        lambda c: c["figure"]["bones"][0].update(mass=-1.0),
        lambda c: c["figure"]["bones"].pop(),
        lambda c: c["gains"].update(frequency=0.0),
        lambda c: c.pop("plan"),
    ],
)
def test_what_is_wrong_with_a_saved_character_is_a_sentence(walk, change):
    world = ds.World(sleeping=False)
    actor_in(world, walk.trimmed(0, 0.1))
    world.run(0.02)
    image = damaged(world_image(world), change)
    with pytest.raises(ds.InputError) as caught:
        world_from_image(image, "world.h5")
    assert str(caught.value).startswith("world.h5: ") and "\n" not in str(caught.value)

"""Recordings: readable while written and after a crash; run again they give every bit."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.world.io import recorder

STONE = ds.Material(density=2600, friction=0.6)


def scene(**options):
    world = ds.World(**options)
    world.add_fixed(ds.Plane(), STONE, name="ground")
    for k in range(5):
        world.add_body(
            ds.Box(0.5, 0.4, 0.3), STONE, position=(0.1 * k, 0.05 * k, 0.5 + 0.5 * k),
            spin=(0.3, 0.1 * k, 0), name=f"stone-{k}",
        )  # fmt: skip
    return world


def recorded(path, seconds=0.5, every=4, **options):
    world = scene(**options)
    with ds.record(world, path, every=every):
        world.run(seconds)
    return world


def test_frames_are_what_the_world_was(tmp_path):
    world, twin = scene(), scene()
    with ds.record(world, tmp_path / "fall.h5", every=4):
        world.run(0.5)
    with ds.Recording(tmp_path / "fall.h5") as recording:
        assert len(recording) == 31 and len(recording.hashes) == 120
        np.testing.assert_array_equal(recording.steps, np.arange(0, 121, 4))
        np.testing.assert_array_equal(recording.times, np.arange(0, 121, 4) * world.dt)
        for k in range(31):
            np.testing.assert_array_equal(recording.positions(k), twin.positions)
            np.testing.assert_array_equal(recording.orientations(k), twin.orientations)
            np.testing.assert_array_equal(recording.numbers(k), [1, 2, 3, 4, 5])
            energy = twin.energy()
            assert recording.kinetic[k] == energy.kinetic
            assert recording.potential[k] == energy.potential
            assert k == 0 or f"{recording.hashes[4 * k - 1]:016x}" == twin.hash()
            if k < 30:
                for _ in range(4):
                    twin.step()
        assert recording.contact_counts[-1] == world.info.contacts
        np.testing.assert_array_equal(recording.positions(-1), world.positions)
        last = recording.frame(-1)
        np.testing.assert_array_equal(last.pose[:, :3], world.positions)
        assert len(last.number) == 5 and last.frame["step"] == 120
        with pytest.raises(ds.InputError, match="there is no frame 31"):
            recording.positions(31)
        with pytest.raises(ds.InputError, match="frame is 3.5"):
            recording.frame(3.5)


def test_recording_changes_nothing(tmp_path):
    plain = scene()
    plain.run(0.5)
    assert recorded(tmp_path / "fall.h5", every=7).hash() == plain.hash()


def test_replay_verifies_every_step(tmp_path):
    world = recorded(tmp_path / "fall.h5")
    result = ds.replay(tmp_path / "fall.h5", verify=True)
    assert result and result.verified and result.steps == 120
    assert result.first_difference is None and result.world.hash() == world.hash()
    seen = []
    assert not ds.replay(tmp_path / "fall.h5", False, lambda *step: seen.append(step)).verified
    assert seen[-1] == (120, 120)


def test_replay_starts_where_the_recording_did(tmp_path):
    world = scene()
    world.run(0.3)
    with ds.record(world, tmp_path / "late.h5", every=5):
        for _ in range(33):
            world.step()
    result = ds.Recording(tmp_path / "late.h5").verify()
    assert result.verified and result.steps == 33 and result.world.step_count == 72 + 33


def test_edits_are_run_again(tmp_path):
    """Everything that a user can change while it runs, with reads in between."""
    world = scene()
    other = ds.Material(density=500, friction=0.2, name="cork")
    points = np.random.default_rng(1).normal(size=(12, 3)) * 0.2
    with ds.record(world, tmp_path / "edits.h5", every=4):
        world.run(0.1)
        world["stone-0"].velocity = (1, 0, 2)
        ball = world.add_body(ds.Sphere(0.2), other, position=(0.1, 0, 3), name="ball")
        ball.spin = (0, 5, 0)
        assert world.positions.shape == (6, 3)  # makes the arrays between two edits
        ball.orientation = (0.6, 0, 0.8, 0)
        world.run(0.11)
        hull = world.add_body(ds.ConvexHull(points + 5.0), STONE, position=(-5, -5, -3))
        world.add_fixed(ds.Box(0.2, 3, 0.2), STONE, (1, 0, 0.1), orientation=(0.8, 0, 0, 0.6))
        world.exclude(ball, hull)
        world.remove(world["stone-2"])
        world.set_pair(STONE, other, friction=0.9)
        world.run(0.1)
        world["stone-1"].mass = 300
        world["stone-3"].inertia = (9, 8, 7)
        world["stone-4"].position = (2, 2, 2)
        hull.centre = (0.5, 0, 2)
        hull.force, hull.torque = (10, 0, 0), (0, 1, 0)
        world.gravity = (0.5, 0, -9)
        ball.name = "cork"
        world.run(0.2, callback=lambda w: setattr(w["stone-1"], "velocity", (0.1, 0, 0)))
        world["stone-0"].asleep = True
        world.remove(world["ground"])
        world.run(0.1)
    result = ds.replay(tmp_path / "edits.h5")
    assert result.verified, result.complaint
    assert result.world.hash() == world.hash()
    assert [b.name for b in result.world.bodies] == [b.name for b in world.bodies]
    with ds.Recording(tmp_path / "edits.h5") as recording:
        assert {len(recording.positions(k)) for k in range(len(recording))} == {5, 6}
        assert recording.bodies()[hull.number].shape.vertices.shape[1] == 3
        kinds = {line["edit"] for line in recording.journal()}
    assert kinds == {
        "set", "add_body", "add_fixed", "exclude", "remove", "set_pair", "gravity", "sync"
    }  # fmt: skip


def test_replay_finds_a_flipped_bit_in_the_start(tmp_path):
    """One bit in one velocity: the first step differs, and is named."""
    path = tmp_path / "fall.h5"
    recorded(path)
    world = ds.Recording(path).start()
    world.state.twist.view(np.uint64)[0, 0] ^= 1
    from drystone.world.io.checkpoint import world_image

    image = np.frombuffer(world_image(world), np.uint8)
    with h5py.File(path, "r+") as file:
        del file["start"]
        file["start"] = image
    result = ds.replay(path)
    assert not result and not result.verified and result.first_difference == 1
    assert "after step 1" in result.complaint


def test_replay_finds_a_flipped_bit_in_a_hash(tmp_path):
    path = tmp_path / "fall.h5"
    recorded(path)
    with h5py.File(path, "r+") as file:
        file["hash"][76] ^= np.uint64(1 << 40)
    result = ds.replay(path)
    assert result.first_difference == 77 and "after step 77" in result.complaint


def test_writes_past_the_journal_are_found(tmp_path):
    path = tmp_path / "fall.h5"
    world = scene()
    with ds.record(world, path):
        world.run(0.1)
        world.state.twist[0, 0] += 1e-9
        world.run(0.1)
    assert ds.replay(path).first_difference == 25


def test_a_failed_run_can_be_replayed_up_to_the_failure(tmp_path):
    world = scene(checkpoint_folder=tmp_path)
    with pytest.raises(ds.SimulationError, match="stone-1.*step 25"):
        with ds.record(world, tmp_path / "bad.h5"):
            world.run(0.1)
            world.state.twist[1, 0] = np.nan
            world.run(0.1)
    result = ds.replay(tmp_path / "bad.h5")
    assert result.verified and result.steps == 24


# Files


def test_wrong_calls_get_a_sentence(tmp_path):
    world = scene()
    with pytest.raises(ds.InputError, match="every is 0"):
        ds.record(world, tmp_path / "a.h5", every=0)
    with pytest.raises(ds.InputError, match="cannot be written there"):
        ds.record(world, tmp_path / "nowhere" / "a.h5")
    recorder = ds.record(world, tmp_path / "a.h5")
    with pytest.raises(ds.InputError, match="is being recorded to .*a.h5 already"):
        ds.record(world, tmp_path / "b.h5")
    recorder.close()
    recorder.close()
    world.step()
    assert world.settings.hashing == 0
    with ds.record(world, tmp_path / "b.h5"):
        world.step()


def test_wrong_files_get_a_sentence(tmp_path):
    with pytest.raises(ds.InputError, match="there is no such file"):
        ds.Recording(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("no recording")
    with pytest.raises(ds.InputError, match="text.h5: is damaged or no Drystone recording"):
        ds.replay(tmp_path / "text.h5")
    scene().save(tmp_path / "world.h5")
    with pytest.raises(ds.InputError, match="is no recording but drystone world"):
        ds.Recording(tmp_path / "world.h5")
    path = tmp_path / "fall.h5"
    recorded(path)
    whole = path.read_bytes()
    for length in (0, 1000, len(whole) // 2):
        path.write_bytes(whole[:length])
        with pytest.raises(ds.InputError, match="fall.h5"):
            ds.replay(path)
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 7
    with pytest.raises(ds.InputError, match="format version 7"):
        ds.Recording(path)


@pytest.mark.parametrize("line", [b"{", b'{"step": 0}', b'{"step":0,"edit":"eat","value":1}',
                                  b'{"step":0,"edit":"set","value":[1,"_world",0]}',
                                  b'{"step":0,"edit":"set","value":[99,"mass",1]}'])  # fmt: skip
def test_a_damaged_journal_gets_a_sentence(tmp_path, line):
    path = tmp_path / "fall.h5"
    recorded(path, 0.1)
    with h5py.File(path, "r+") as file:
        journal = file["journal"]
        journal.resize(len(line) + 1, axis=0)
        journal[:] = np.frombuffer(line + b"\n", np.uint8)
    with pytest.raises(ds.InputError):
        ds.replay(path)


CHILD = """
    import sys, resource
    sys.path.insert(0, {folder!r})
    import drystone as ds
    from test_recorder import scene
    world = scene(sleeping=False)
"""


def start_child(code, *args):
    code = textwrap.dedent(CHILD.format(folder=os.path.dirname(__file__))) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_until(condition, child, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except ds.InputError:  # not yet there
            pass
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.05)
    raise AssertionError("the other process did not get there")


@pytest.mark.slow
def test_a_recording_is_read_while_written_and_survives_a_kill(tmp_path):
    path = tmp_path / "live.h5"
    child = start_child(
        """
        with ds.record(world, sys.argv[1], every=4):
            print("go", flush=True)
            while True:
                world.run(0.1)
                world.bodies[0].velocity = (0.1, 0, 0)
        """,
        path,
    )
    try:
        assert child.stdout.readline() == "go\n"
        with ds.Recording(path) as recording:
            first = len(recording)

            def grown():
                recording.refresh()
                return len(recording) > first + 30

            wait_until(grown, child)
            k = len(recording) - 1
            assert recording.positions(k).shape == (5, 3)
            assert np.isfinite(recording.positions(k)).all()
        child.send_signal(signal.SIGKILL)
        child.wait(timeout=60)
        with ds.Recording(path) as recording:
            assert len(recording) > k and len(recording.hashes) >= 4 * k
            count = min(len(recording.hashes), 400)
    finally:
        child.kill()
        child.communicate(timeout=60)
    result = ds.replay(path)
    assert result.verified, result.complaint
    assert result.steps >= count


def test_a_kill_in_the_midst_of_writing_leaves_no_frame_without_its_hashes(tmp_path, monkeypatch):
    """A copy of the file after every write to it is what a kill at that moment would leave."""
    copies, flush = [], h5py.Dataset.flush

    def flush_and_copy(dataset):
        flush(dataset)
        copies.append(shutil.copy(tmp_path / "live.h5", tmp_path / f"killed-{len(copies)}.h5"))

    monkeypatch.setattr(h5py.Dataset, "flush", flush_and_copy)
    monkeypatch.setattr(recorder, "FLUSH_SECONDS", 0.0)  # after every step
    world = scene()
    with ds.record(world, tmp_path / "live.h5", every=2):
        for k in range(3):
            world.bodies[0].velocity = (0.1 * k, 0, 0)
            world.run(4 * world.dt)
    assert len(copies) > 20
    frames = 0
    for copy in copies:
        with ds.Recording(copy) as recording:
            if len(recording):
                assert len(recording.hashes) >= recording.steps[-1]
                assert recording.positions(-1).shape == (5, 3)
            assert len(recording) >= frames
            frames = len(recording)
            steps = len(recording.hashes)
        result = ds.replay(copy)
        assert result.verified or not steps and "nothing to compare" in result.complaint
    assert frames == 7


@pytest.mark.slow
def test_a_full_disk_ends_the_recording_not_the_world(tmp_path):
    """The file may grow to 200 kB and no further, as on a full disk."""
    path = tmp_path / "full.h5"
    child = start_child(
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            with ds.record(world, sys.argv[1], every=1):
                world.run(1000)
        except ds.SimulationError as error:
            print("said", error)
        count = world.step_count
        world.run(0.1)
        print(count > 0, world.step_count - count, world.settings.hashing)
        """,
        path,
    )
    out, err = child.communicate(timeout=200)
    assert child.returncode == 0, err
    assert "said" in out and "the recording cannot go on" in out and "The world is unharmed" in out
    assert out.splitlines()[-1] == "True 24 0"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY

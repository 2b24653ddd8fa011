"""The benchmark: its scenes, its yardstick and its rows, on runs of a few steps."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.bench import core_scaling, drystone_driver, overlap_measure
from drystone.bench.chain import chain_statistics
from drystone.bench.scaling import scaling_rows
from drystone.bench.standard_scenes import (
    SUMMARIES,
    make_hulls,
    pile,
    standard_scene,
    torus_pile,
    unit_boxes,
)
from drystone.cli import app
from drystone.cli.bench import whole_rows

QUICK = [name for name in SUMMARIES if name != "S6"]  # S6 first makes its thousand hulls


@pytest.mark.parametrize("name", QUICK)
def test_standard_scenes_are_complete(name):
    scene = standard_scene(name)
    n = len(scene.mass)
    assert scene.position.shape == scene.inertia.shape == (n, 3)
    assert np.allclose(np.linalg.norm(scene.orientation, axis=1), 1.0)
    assert [end for _, _, end in scene.phases()][-1] == scene.steps
    assert n == {"S1": 1, "S2": 10, "S3": 210, "S7": 500, "S8": 2, "S9": 50}.get(name, 1000)


def test_standard_scenes_have_not_changed():
    """Figures are only comparable while the numbers stay: a few of them, as first published."""
    spheres, boxes = standard_scene("S4"), standard_scene("S5r")
    rng = np.random.default_rng(7)
    assert np.array_equal(spheres.position[0], [-0.99, -0.99, 0.2] + rng.uniform(-0.004, 0.004, 3))
    assert boxes.walls.shape == (4, 2, 3) and boxes.walls[0, 0, 2] == 6.0
    assert spheres.steps == 1500 and spheres.split == 1000
    assert standard_scene("S8").mass.tolist() == [1.0, 1000.0]


def test_hulls_sit_at_their_centre_along_principal_axes():
    hulls = make_hulls(3)
    for k in range(3):
        corners, faces = hulls[f"v{k}"], hulls[f"f{k}"]
        a, b, c = (corners[faces[:, i]] for i in range(3))
        volume = np.einsum("fi,fi->f", a, np.cross(b, c)) / 6
        assert volume.sum() * 1000 == pytest.approx(hulls["mass"][k])
        centre = (volume[:, None] * (a + b + c) / 4).sum(axis=0) / volume.sum()
        assert np.abs(centre).max() < 1e-13


def test_world_has_the_masses_and_inertias_of_the_scene():
    scene = pile("S5r", 8, 1.2, 20, 10, per_side=2)
    world = drystone_driver.build_world(scene)
    for b, body in enumerate(world.bodies):
        assert body.mass == pytest.approx(scene.mass[b])
        assert np.diag(body.inertia) == pytest.approx(scene.inertia[b])
        assert body.position == pytest.approx(scene.position[b])


def test_yardstick_measures_spheres_in_closed_form():
    scene = pile("S4", 8, 1.2, 20, 10, per_side=2)
    position = scene.position.copy()
    position[:, 2] += 5.0
    position[1] = position[0] + (0.199, 0, 0)  # radius 0.1: one millimetre of overlap
    position[2, 2] = 0.0975  # 2.5 mm in the ground
    figures = overlap_measure.measure_overlap(scene._asdict(), position, scene.orientation)
    assert figures["pair_max_mm"] == pytest.approx(1.0)
    assert figures["touching"] == 1
    assert figures["fixed_max_mm"] == pytest.approx(2.5)
    assert figures["lost"] == 0


def test_yardstick_measures_boxes():
    pytest.importorskip("coal")
    scene = unit_boxes("S2", [(0, 0, 0.5), (0, 0, 1.499)], [1.0, 1.0], 10)
    figures = overlap_measure.measure_overlap(scene._asdict(), scene.position, scene.orientation)
    assert figures["pair_max_mm"] == pytest.approx(1.0, abs=1e-6)
    assert figures["fixed_max_mm"] == 0.0


def test_tori_have_the_mass_of_their_mesh():
    """Against trimesh, which integrates over the same triangles in another way."""
    trimesh = pytest.importorskip("trimesh")
    scene = standard_scene("S7")
    mesh = trimesh.Trimesh(*scene.hull(3), process=False)
    assert mesh.volume * 1000 == pytest.approx(scene.mass[3], rel=1e-12)
    assert np.diag(mesh.moment_inertia) * 1000 == pytest.approx(scene.inertia[3], rel=1e-12)
    assert len(mesh.faces) == 600


def test_yardstick_knows_how_deep_a_point_lies_in_a_torus():
    """From the middle of a face straight in: as far as one went; at the corners zero."""
    scene = standard_scene("S7")
    corner, face = scene.hull(0)
    a, b, c = (corner[face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for depth in (-1e-3, 0.0, 1e-4, 2e-3):
        point = (a + b + c) / 3 - depth * normal
        assert overlap_measure.torus_depth(point, 0.1, 0.04) == pytest.approx(depth, abs=1e-12)
    assert np.abs(overlap_measure.torus_depth(corner, 0.1, 0.04)).max() < 1e-12


def test_yardstick_measures_tori():
    """Two lying on each other, the upper one sunk by 0.4 mm: flat sides in flat sides."""
    scene = torus_pile(2, 1.2, 20, 10)
    width = 2 * 0.04 * np.sin(np.pi / 2)  # the profile has corners above and below
    position = np.array([(0.0, 0.0, 1.0), (0.0, 0.0, 1.0 + width - 4e-4)])
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    figures = overlap_measure.measure_overlap(scene._asdict(), position, upright)
    assert figures["touching"] == 1
    # A ridge of 150 degrees that enters by h is h cos 15 degrees from the sides it came through.
    assert figures["pair_max_mm"] == pytest.approx(0.4 * np.cos(np.pi / 12), rel=1e-2)
    linked = position[1] - (0.0, 0.0, width) + (0.1, 0.0, 0.0)
    turned = np.array([upright[0], [0.5**0.5, 0.5**0.5, 0.0, 0.0]])
    figures = overlap_measure.measure_overlap(
        scene._asdict(), np.array([position[0], linked]), turned
    )
    assert figures["touching"] == 0


def test_drive_times_phases_apart():
    scene = pile("S4", 8, 1.2, 25, 15, per_side=2)
    rows, poses = drystone_driver.drive(scene)
    assert [(row["phase"], row["steps"]) for row in rows] == [("fall", 15), ("settled", 10)]
    assert poses["steps"] == 25 and poses["pos"].shape == (8, 3)
    for row in rows:
        assert row["ms_mean"] > 0 and row["converged"] == 1.0
        assert sum(row["stages_ms"].values()) <= 1.05 * row["ms_mean"]


def test_standing_box_is_said_to_stand():
    scene = standard_scene("S1", 0.01)
    rows, poses = drystone_driver.drive(scene)
    figures = drystone_driver.standing(scene, poses)
    assert figures["stands"] and figures["drift_mm"] < 1e-3
    assert {row["phase"] for row in rows} == {"all", "step()"}
    poses["pos"] = poses["pos"] - [0, 0, 0.3]
    assert not drystone_driver.standing(scene, poses)["stands"]


def test_single_steps_are_timed_with_the_solver_that_was_chosen(monkeypatch):
    built, build = [], drystone_driver.build_world
    monkeypatch.setattr(drystone_driver, "build_world", lambda *a: built.append(a[2]) or build(*a))
    drystone_driver.drive(standard_scene("S1", 0.01), solver="pgs")
    assert built == ["pgs", "pgs"]


def test_chain_is_held_by_its_hinges():
    """At the start nothing is open or lost; a link that is moved opens a gap, and costs energy."""
    scene = standard_scene("S9", 0.01)
    poses = drystone_driver.poses_of(drystone_driver.build_world(scene))
    figures = chain_statistics(scene, poses)
    assert figures["joint_gap_mm"] < 1e-9 and abs(figures["energy_drift"]) < 1e-12
    poses["pos"] = poses["pos"] + np.array([0, 0, 1e-3])
    assert chain_statistics(scene, poses)["joint_gap_mm"] == pytest.approx(1.0)
    # 10 kg lifted by 1 mm, of 10 kg that fall by (1 - cos 30) 5 m
    share = 1e-3 / (5.0 * (1 - np.cos(np.pi / 6)))
    assert chain_statistics(scene, poses)["energy_drift"] == pytest.approx(share)


def test_chain_swings_without_loss():
    scene = standard_scene("S9", 0.1)
    rows, poses = drystone_driver.drive(scene)
    figures = chain_statistics(scene, poses)
    assert rows[0]["converged"] == 1.0
    assert figures["joint_gap_mm"] < 1e-3 and abs(figures["energy_drift"]) < 1e-3


@pytest.mark.slow
def test_scaling_yields_equal_contacts_per_body():
    rows = list(scaling_rows(counts=(40, 90), scale=0.01))
    assert [row["bodies"] for row in rows] == [40, 90, 40, 90]
    assert all(row["us_per_body"] > 0 for row in rows)


@pytest.mark.slow
def test_bench_command_writes_rows_and_poses(tmp_path):
    rows_file = tmp_path / "rows.jsonl"
    result = CliRunner().invoke(
        app, ["bench", "--scenes", "S1,S8", "--scale", "0.01", "--json", str(rows_file),
              "--poses", str(tmp_path)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
    assert {row["scene"] for row in rows} == {"S1", "S8"}
    assert all("residual_worst" in row and "ms_mean" in row for row in rows)
    assert np.load(tmp_path / "drystone-default-S8.npz")["pos"].shape == (2, 3)


@pytest.mark.slow
def test_falling_piles_have_the_same_bits_on_any_number_of_threads(monkeypatch):
    """More threads than this machine may have cores: each is a process that begins with so many."""
    monkeypatch.setattr(core_scaling, "COUNTS", (360,))
    monkeypatch.setattr(core_scaling, "GRIDS", {"S4": core_scaling.GRIDS["S4"]})
    rows = list(core_scaling.core_rows("3,1", scale=0.9))
    assert [row["threads"] for row in rows] == [1, 3]
    assert all(row["same_bits"] and row["contacts"] > 400 for row in rows)
    assert rows[0]["speed_up"] == 1.0 and all(row["us_per_body"] > 0 for row in rows)


@pytest.mark.parametrize("threads", ["", "1,two", "0"])
def test_odd_numbers_of_threads_are_refused(threads):
    with pytest.raises(ds.InputError, match="cores"):
        next(core_scaling.core_rows(threads))


def test_whole_scene_is_the_sum_of_its_phases():
    fall = dict(label="x", phase="fall", steps=100, ms_mean=3.0, penetration_mm=2.0,
                kinetic_energy=5.0, converged=0.5, residual_worst=1e-2)  # fmt: skip
    settled = fall | dict(phase="settled", steps=300, ms_mean=1.0, penetration_mm=0.1,
                          kinetic_energy=1.0, converged=1.0, residual_worst=1e-6)  # fmt: skip
    (row,) = whole_rows([fall, settled, fall | {"label": "broken"}])
    assert row["whole_s"] == pytest.approx(0.6) and row["fall_ms"] == 3.0
    assert row["converged"] == pytest.approx(0.875) and row["residual"] == 1e-2
    assert row["fall_depth"] == 2.0 and row["energy"] == 1.0

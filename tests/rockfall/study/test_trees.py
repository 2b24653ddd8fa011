"""Single trees: rigid trunks of the diameter given, where they are given."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.engine.records import POSITION
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Scene, Start, roll
from drystone.rockfall.study.check import check_study
from drystone.rockfall.study.study import Study
from drystone.rockfall.study.trees import join_trees, plant, require_trunks
from drystone.rockfall.study.valley import new_study
from drystone.rockfall.terrain.materials import uniform_surface
from drystone.rockfall.terrain.slope import Slope

for package in ("rasterio", "pyproj", "shapely", "pyogrio"):
    pytest.importorskip(package, reason="needs the extra drystone[rockfall]")


def flat():
    return Slope.from_grid(np.zeros((41, 41)), 1.0, origin=(-20.0, -20.0))


def passed(beside, diameter=0.6, size=1.0):
    """A ball of that size, without gravity, beside a tree by so much: whether it went on."""
    slope = flat()
    x, y, _ = slope.origin
    trees = plant(slope, np.array([[0.3 - x, 0.2 - y, diameter]]), 10.0, 0)
    vertices = np.concatenate([slope.vertices, trees.vertices])
    triangles = np.concatenate([slope.triangles, trees.triangles + len(slope.vertices)])
    scene = Scene.build(vertices, triangles.astype(np.int32), uniform_surface(0.0, 0.0))
    start = Start((-8.0 - x, 0.2 + beside - y, 3.0), (10.0, 0.0, 0.0))
    path = roll(Rock.sphere(size), start, scene, Options(gravity=0.0, max_time=4.0))
    straight = len(path.impacts) == 0 and path.end["reason"] == POSITION
    return straight


@pytest.mark.parametrize("diameter", [0.2, 0.6, 1.5])
@pytest.mark.parametrize("size", [0.4, 2.0])
def test_a_rock_hits_a_tree_as_wide_as_it_is(diameter, size):
    """Half the rock and half the tree from its axis; the prism is 0.97 to 1.06 radii wide."""
    half = 0.5 * size
    for side in (1.0, -1.0):
        assert not passed(side * (half + 0.96 * 0.5 * diameter), diameter, size)
        assert passed(side * (half + 1.07 * 0.5 * diameter), diameter, size)


def test_trunks_are_closed_and_look_outward():
    slope = Slope.from_grid(np.random.default_rng(1).uniform(0, 4, (12, 12)), 2.0)
    middle = 0.5 * (slope.bounds[0] + slope.bounds[1])[:2]
    places = middle + np.random.default_rng(2).uniform(-8, 8, (9, 2))
    trunks = np.column_stack([places, np.full(9, 0.5)])
    trees = join_trees([plant(slope, trunks[:4], 8.0, 0), plant(slope, trunks[4:], 12.0, 1)])
    a, b, c = (trees.vertices[trees.triangles[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).reshape(9, -1).sum(axis=1) / 6.0
    tall = trees.vertices[:, 2].reshape(9, -1)
    np.testing.assert_allclose(volume, np.pi * 0.25**2 * np.ptp(tall, axis=1), rtol=1e-9)
    edges = np.concatenate([trees.triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])
    assert {tuple(e) for e in edges} == {tuple(e[::-1]) for e in edges}
    feet = slope.height(*trunks[:, :2].T)
    np.testing.assert_allclose(tall.max(axis=1) - feet, [8.0] * 4 + [12.0] * 5)
    assert (tall.min(axis=1) < feet - 0.9).all()


def test_wrong_trees_are_named():
    slope = flat()
    with pytest.raises(InputError, match="diameter of 35 m.*centimetres"):
        require_trunks("trees", np.array([[0, 0, 0.3], [1, 1, 35.0]]))
    with pytest.raises(InputError, match="at most 100,000"):
        require_trunks("trees", np.full((100_001, 3), 0.3))
    with pytest.raises(InputError, match="1 trees stand off the terrain"):
        plant(slope, np.array([[0.0, 0.0, 0.3], [500.0, 0.0, 0.3]]), 10.0, 0)


def test_trees_of_a_study_stop_what_a_drag_zone_only_slows(tmp_path):
    """From a file and from the study, after the walls; only they have their material."""
    import pyogrio
    import shapely

    path = new_study(tmp_path / "valley")
    study = Study.load(path)
    places = [[2600000 + x, 1200180.0, 0.4] for x in range(20, 380, 2)]
    points = shapely.points(np.array(places)[:, :2])
    pyogrio.raw.write(
        path.parent / "trees.gpkg", geometry=shapely.to_wkb(points),
        field_data=[np.array(places)[:, 2]], fields=np.array(["diameter_m"], dtype=object),
        geometry_type="Point", crs="EPSG:2056", driver="GPKG",
    )  # fmt: skip
    table = study.settings.model_dump(by_alias=True, exclude_none=True)
    wall = {"name": "dam", "kind": "contact", "line": [[2600010, 1200120], [2600030, 1200120]],
            "height_m": 2.0, "thickness_m": 1.0, "material": "rock"}  # fmt: skip
    one = {"points": places[:5], "height_m": 15, "material": "rock"}
    many = {"file": "trees.gpkg", "height_m": 20, "material": "talus"}
    table |= {"barriers": [*table["barriers"], wall], "trees": [one, many]}
    grown = Study.from_table(table, path.parent)
    np.testing.assert_allclose(grown.trees.trunks[:5, :3], grown.trees.trunks[5:10, :3])
    assert len(grown.trees.trunks) == 185
    assert path.parent / "trees.gpkg" in grown.input_files()
    ids = grown.surface.triangle_material[len(grown.slope.triangles) + len(grown.walls.triangles) :]
    rock, talus = (grown.material_names.index(name) for name in ("rock", "talus"))
    assert (ids[: 5 * 28] == rock).all() and (ids[5 * 28 :] == talus).all()
    assert len(grown.scene().grid.triangle) == len(grown.ground()[1])


def test_rocks_of_an_area_start_between_its_trees(tmp_path):
    """A rock in a trunk would be lifted to its top, and fall from there."""
    path = new_study(tmp_path / "valley")
    table = Study.load(path).settings.model_dump(by_alias=True, exclude_none=True)
    wood = [[2600100.0 + 3 * i, 1200180.0 + 3 * j, 0.5] for i in range(20) for j in range(6)]
    area = [[2600100, 1200180], [2600157, 1200180], [2600157, 1200195], [2600100, 1200195]]
    table |= {
        "trees": [{"points": wood, "height_m": 20, "material": "rock"}],
        "sources": [{"name": "wood", "polygon": area}],
    }
    study = Study.from_table(table, path.parent)
    for run in range(60):
        rock, start, _ = study.sample(run)
        away = np.hypot(*(study.trunks[:, :2] - start.position[:2]).T)
        assert away.min() >= rock.radius + 0.25
    findings = check_study(study.with_runs(count=60)).findings
    assert not any("lifted" in str(finding) for finding in findings)
    table["sources"] = [{"name": "tree", "points": [wood[7][:2]]}]
    inside = Study.from_table(table, path.parent)
    assert inside.sample(0)[1].position[2] < inside.slope.bounds[1][2]
    findings = check_study(inside.with_runs(count=20)).findings
    assert any("lifted" in str(finding) for finding in findings)

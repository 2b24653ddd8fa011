"""Studies: what is read is what was written, and a run depends on the seed and its number alone."""

import pickle

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.bench.penetration import measure_depth
from drystone.rockfall.engine.records import ARC, FAILED, STATE, Trajectory
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, roll_many
from drystone.rockfall.study.check import check_study
from drystone.rockfall.study.study import Study
from drystone.rockfall.study.valley import CORNER, new_study, valley_heights
from drystone.rockfall.terrain.ground_surface import ground_of
from drystone.rockfall.terrain.materials import FACE, materials_at
from shared_data import DATA, needs_data

for package in ("rasterio", "pyproj", "shapely", "pyogrio"):
    pytest.importorskip(package, reason="needs the extra drystone[rockfall]")
import pyogrio  # noqa: E402
import shapely  # noqa: E402

TERRAIN = DATA / "terrain" / "avaKot.asc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("valley") / "demo"
    new_study(path)
    return path


@pytest.fixture(scope="module")
def study(folder):
    return Study.load(folder / "study.toml")


def table(study, **changes):
    return study.describe() | changes


def changed(study, **changes):
    return Study.from_table(table(study, **changes), study.folder)


def material(study, x, y):
    """Name of the material at a point of the valley, by its place alone."""
    answer = np.empty(1, np.int32)
    local = np.array(CORNER) + (x, y) - study.slope.origin[:2]
    materials_at(
        np.zeros(1, np.int32), np.full(1, FACE, np.int32), local[:1], local[1:], study.surface,
        answer,
    )  # fmt: skip
    return study.material_names[answer[0]]


def test_the_valley_is_read_as_it_was_written(study):
    z = valley_heights()
    assert study.slope.grid.z.shape == z.shape and (study.slope.grid.z == z).all()
    assert study.slope.crs.to_epsg() == 2056
    assert study.runs.count == 1000 and study.output.cell == 2.0
    slope = study.slope
    x, y = np.array(CORNER) + (100.0, 320.0) - slope.origin[:2]
    assert slope.height(x, y) == z[160, 50]


def test_materials_of_the_valley(study):
    assert material(study, 200, 320) == "rock"
    assert material(study, 200, 250) == "talus"
    assert material(study, 200, 50) == "meadow"
    assert material(study, 200, 132) == "road"


def test_what_a_study_says_of_itself_makes_the_same_study(study):
    again = changed(study)
    assert again.describe() == study.describe()
    _, start, values = study.sample(7)
    _, twin, twins = again.sample(7)
    assert start == twin
    np.testing.assert_array_equal(values.friction, twins.friction)


def test_a_sample_needs_nothing_but_its_number(study):
    other = pickle.loads(pickle.dumps(study))
    assert len(pickle.dumps(study)) < 10_000  # terrain and all are made anew
    for run in (999, 3, 500):
        rock, start, values = other.sample(run)
        twin = study.sample(run)
        assert start == twin[1] and rock.mass == twin[0].mass
        np.testing.assert_array_equal(values.normal_restitution, twin[2].normal_restitution)
    assert study.with_runs(seed=2).sample(3)[1] != study.sample(3)[1]
    with pytest.raises(InputError, match="no run 1000"):
        study.sample(1000)


def depth_at_start(slope, start, rock):
    """How deep the ball of a rock is in the ground, as the penetration study measures it."""
    arcs, states = np.zeros(1, ARC), np.zeros(2, STATE)
    arcs["t1"], arcs["x"] = 1.0, start.position
    states["t"], states["q"] = [0, 1], [1, 0, 0, 0]
    held = Trajectory(arcs, None, None, None, states)
    return measure_depth(Rock.sphere(2.0 * rock.radius), held, ground_of(slope)).depth


def test_rocks_start_free_on_the_cliff(study):
    slope = study.slope
    for run in range(60):
        rock, start, _ = study.sample(run)
        centre = np.array(start.position)
        assert depth_at_start(slope, start, rock) <= 0.0
        above = centre[2] - slope.height(*centre[:2])
        assert above > 0
        assert 0.5 <= np.linalg.norm(start.velocity) <= 1.5
        assert np.linalg.norm(start.spin) <= 1.0
        assert np.linalg.norm(start.orientation) == pytest.approx(1.0)
        assert start.velocity[1] < 0  # the cliff looks south


def test_weights_and_distributions_hold_over_many_runs(study):
    """3 blocks to 1 plate, exactly with a Latin hypercube; its means are far better than
    1/sqrt(n)."""
    samples = [study.sample(run) for run in range(1000)]
    sides = np.array([np.ptp(rock.vertices, axis=0) for rock, _, _ in samples])
    ratio = sides.min(axis=1) / sides.max(axis=1)
    assert (np.abs(ratio - 0.4) < 1e-9).sum() == 250
    friction = np.array([values.friction for _, _, values in samples])
    assert friction[:, 3].mean() == pytest.approx(0.6, abs=1e-3)
    assert friction[:, 0].min() >= 0.35 * 0.9 and friction[:, 0].max() <= 0.35 * 1.1


def test_random_orientations_are_even(study):
    """The mean of the rotated z axis vanishes, its second moment is one third."""
    axes = []
    for run in range(1000):
        rock, start, _ = study.sample(run)
        w, x, y, z = start.orientation
        axes.append([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    axes = np.array(axes)
    np.testing.assert_allclose(axes.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose((axes.T @ axes) / 1000, np.eye(3) / 3, atol=0.04)


def test_orientation_is_of_the_shape_as_given(study):
    """A block with its long axis along x, turned by 90 degrees about z, lies along y."""
    rocks = [{"name": "b", "shape": "block", "axes_m": [3.0, 1.0, 2.0]}]
    sources = [{"name": "s", "points": [[CORNER[0] + 200, CORNER[1] + 400]],
                "orientation_deg": [90.0, 0.0, 0.0]}]  # fmt: skip
    rock, start, _ = changed(study, rocks=rocks, sources=sources).sample(0)
    w, x, y, z = start.orientation
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    np.testing.assert_allclose(np.ptp(rock.vertices @ turn.T, axis=0), [1.0, 3.0, 2.0], atol=1e-12)


@pytest.mark.parametrize(
    "part, volume",
    [
        ({"shape": "sphere", "size_m": 2.0}, 4 / 3 * np.pi),
        ({"shape": "sphere", "mass_kg": 1000.0, "density_kg_m3": 2500.0}, 0.4),
        ({"shape": "block", "axes_m": [1.0, 2.0, 3.0]}, 6.0),
        ({"shape": "block", "size_m": 2.0, "proportions": [1, 0.5, 0.25]}, 1.0),
        ({"shape": "ellipsoid", "volume_m3": 0.7}, 0.7),
        ({"shape": "platy", "volume_m3": 0.5}, 0.5),
        ({"shape": "elongated", "mass_kg": 2670.0}, 1.0),
    ],
)
def test_sizes_of_rocks(study, part, volume):
    rock, _, _ = changed(study, rocks=[part | {"name": "r"}]).sample(0)
    assert rock.volume == pytest.approx(volume, rel=1e-9)
    assert rock.mass == pytest.approx(part.get("density_kg_m3", 2670.0) * volume, rel=1e-9)
    same = type(rock).sphere(2 * (0.75 * volume / np.pi) ** (1 / 3), rock.density)
    assert rock.inertia.max() >= same.inertia.max() * (1 - 1e-9)  # a sphere has the least


def test_rock_from_a_scan(study, folder):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((1.0, 2.0, 3.0)).export(folder / "scan.ply")
    rocks = [{"name": "r", "shape": "hull", "file": "scan.ply", "scale": 0.5}]
    scanned = changed(study, rocks=rocks)
    assert scanned.sample(0)[0].volume == pytest.approx(0.75)
    assert folder / "scan.ply" in scanned.input_files()


def test_a_contact_barrier_joins_the_ground_with_its_own_material(study):
    wall = {"name": "wall", "line": [[CORNER[0] + 50, CORNER[1] + 160],
            [CORNER[0] + 90, CORNER[1] + 160]], "kind": "contact", "height_m": 3.0,
            "thickness_m": 0.8, "material": "rock"}  # fmt: skip
    walled = changed(study, barriers=[wall])
    vertices, triangles = walled.ground()
    count = len(walled.slope.triangles)
    assert len(triangles) > count and triangles.max() == len(vertices) - 1
    answer = np.empty(2, np.int32)
    x, y = np.array(CORNER) + (70.0, 160.0) - walled.slope.origin[:2]
    materials_at(
        np.array([0, count], np.int32), np.full(2, FACE, np.int32), np.full(2, x), np.full(2, y),
        walled.surface, answer,
    )  # fmt: skip
    assert [walled.material_names[k] for k in answer] == ["talus", "rock"]
    # Its line is kept, to know who got over it; as a barrier without a capacity.
    assert walled.barrier_names == ["wall"] and len(walled.barriers.capacity) == 0
    assert walled.barriers.wall_first == count and set(walled.barriers.wall) == {0}
    assert len(walled.barriers.wall) == len(triangles) - count


def test_a_contact_barrier_may_be_a_mesh(study, folder):
    """A closed mesh in the coordinates of the map; beside a net, which comes first."""
    trimesh = pytest.importorskip("trimesh")
    x, y = np.array(CORNER) + (120.0, 160.0)
    z = float(study.slope.height(*(np.array([x, y]) - study.slope.origin[:2])))
    box = trimesh.creation.box((40.0, 1.0, 6.0))
    box.apply_translation((x, y, z))
    box.export(folder / "dam.obj")
    dam = {"name": "dam", "kind": "contact", "mesh": "dam.obj", "material": "rock"}
    walled = changed(study, barriers=[dam, *study.describe()["barriers"]])
    assert walled.barrier_names == ["net", "dam"] and set(walled.barriers.wall) == {1}
    assert len(walled.walls.triangles) == 12
    feet = walled.barriers.foot_a[walled.barriers.barrier == 1] + walled.slope.origin
    assert np.abs(feet[:, 1] - y).max() < 0.1 and np.ptp(feet[:, 0]) > 35.0
    assert folder / "dam.obj" in walled.input_files()
    box.faces = box.faces[:-1]
    box.export(folder / "open.obj")
    with pytest.raises(InputError, match=r"barriers \(dam\): open.obj is not closed: 3 edges"):
        changed(study, barriers=[dam | {"mesh": "open.obj"}]).scene()


def test_triangles_texture_and_regions_together(study, folder):
    """Every rule once: the texture beats the default, a region the texture, an id all of them."""
    west, south = CORNER
    head = f"ncols 2\nnrows 1\nxllcorner {west}\nyllcorner {south}\ncellsize 200\n"
    (folder / "soil.asc").write_text(head + "1 -9999\n")
    materials = study.describe()["materials"] | {
        "texture": {"file": "soil.asc", "codes": {"1": "meadow"}},
        "triangles": {"road": [0]},
        "regions": [{"material": "rock", "polygon": [[west, south], [west + 50, south],
                     [west + 50, south + 50], [west, south + 50]]}],
    }  # fmt: skip
    mixed = changed(study, materials=materials)
    x = np.array(CORNER)[0] + np.array([10.0, 10.0, 100.0, 300.0]) - mixed.slope.origin[0]
    y = np.full(4, south + 10.0 - mixed.slope.origin[1])
    answer = np.empty(4, np.int32)
    triangle = np.array([0, 1, 1, 1], np.int32)
    materials_at(triangle, np.full(4, FACE, np.int32), x, y, mixed.surface, answer)
    assert [mixed.material_names[k] for k in answer] == ["road", "rock", "meadow", "talus"]


@pytest.mark.parametrize("suffix, driver", [("gpkg", "GPKG"), ("shp", "ESRI Shapefile")])
def test_vector_files_in_another_system_are_moved(study, folder, suffix, driver):
    """A polygon of the valley, written in UTM, lands where it was."""
    pyproj = pytest.importorskip("pyproj")
    change = pyproj.Transformer.from_crs("EPSG:2056", "EPSG:32632", always_xy=True)
    corners = np.array(CORNER) + np.array([(100, 220), (300, 220), (300, 260), (100, 260)])
    moved = shapely.Polygon(np.column_stack(change.transform(*corners.T)))
    path = folder / f"zone.{suffix}"
    pyogrio.raw.write(
        path, np.array([shapely.to_wkb(moved)], dtype=object), [np.array(["rock"], object)],
        ["material"], geometry_type="Polygon", crs="EPSG:32632", driver=driver,
    )  # fmt: skip
    materials = study.describe()["materials"] | {"regions": [{"file": path.name}]}
    moved_study = changed(study, materials=materials)
    assert material(moved_study, 200, 240) == "rock"
    assert material(moved_study, 200, 219.9) == "talus"
    assert material(moved_study, 200, 220.1) == "rock"
    names = {p.name for p in moved_study.input_files()}
    assert path.name in names and (suffix != "shp" or "zone.dbf" in names)


def test_sources_from_files(study, folder):
    places = np.array(CORNER) + [(100.0, 400.0), (60.0, 410.0)]
    points = shapely.points(places)
    wkb = np.array([shapely.to_wkb(p) for p in points], dtype=object)
    pyogrio.raw.write(
        folder / "points.gpkg", wkb, [np.arange(2)], ["id"], geometry_type="Point",
        crs="EPSG:2056", driver="GPKG",
    )  # fmt: skip
    pointed = changed(study, sources=[{"name": "p", "file": "points.gpkg"}])
    assert pointed.releases[0].shape.size == "2 points"
    x, y = pointed.sample(0)[1].position[:2] + pointed.slope.origin[:2]
    assert min(np.hypot(x - p.x, y - p.y) for p in points) < 3.0


@needs_data(TERRAIN, "a study on an elevation model")
def test_real_terrain_with_steep_sources(study):
    """Every start is free, and on ground that is steep enough."""
    real = changed(
        study, terrain={"file": str(TERRAIN), "crs": "EPSG:31287"}, barriers=[], forest=[],
        check_lines=[], sources=[{"name": "steep", "steeper_than_deg": 45.0}],
        materials={"default": "rock", "classes": {"rock": {"preset": "stone:carbonate"}}},
    )  # fmt: skip
    slope, source = real.slope, real.releases[0].shape
    up = slope.area_vectors()[:, 2] / np.linalg.norm(slope.area_vectors(), axis=1)
    steep = np.linalg.norm(slope.area_vectors(), axis=1)[up <= np.cos(np.radians(45))]
    assert source.upto[-1] == pytest.approx(steep.sum())
    for run in range(300):
        rock, start, _ = real.sample(run)
        assert depth_at_start(slope, start, rock) <= 0.0


def test_runs_can_be_changed_but_not_broken(study):
    assert study.with_runs(count=5, sampling="monte-carlo").runs.sampling == "monte-carlo"
    assert study.with_runs().describe() == study.describe()
    with pytest.raises(InputError, match="runs.count: input should be greater than or equal to 1"):
        study.with_runs(count=0)


def test_all_wrong_entries_are_told_at_once(study):
    bad = table(study, runs={"count": 0, "sed": 3}, rocks=[{"name": "r", "shape": "sphere"}])
    with pytest.raises(InputError) as caught:
        Study.from_table(bad)
    sentences = str(caught.value).splitlines()
    assert len(sentences) == 3
    assert "study: runs.sed: no such entry. Did you mean 'seed'?" in sentences


def test_a_rock_put_into_the_ground_is_lifted_and_that_is_said(study):
    x, y = CORNER[0] + 200, CORNER[1] + 400
    z = float(study.slope.height(x - study.slope.origin[0], y - study.slope.origin[1]))
    low = changed(study, sources=[{"name": "p", "points": [[x, y, z + 0.05]]}])
    findings = check_study(low.with_runs(count=20)).findings
    assert any("overlap" in str(f) and "lifted" in str(f) for f in findings)
    rock, start, _ = low.sample(0)
    assert start.position[2] == pytest.approx(z + 0.05)
    rolled = roll_many([rock], [start], low.scene(), Options(max_time=0.5))[0]
    assert rolled.end["reason"] != FAILED
    assert 0.05 < rolled.arcs["x"][0, 2] - z < rock.radius * 1.1
    high = changed(study, sources=[{"name": "p", "points": [[x, y, z + 5.0]]}])
    assert high.sample(0)[1].position[2] == pytest.approx(z + 5.0)
    assert not any("overlap" in str(f) for f in check_study(high.with_runs(count=20)).findings)
    with pytest.raises(InputError, match="below the ground"):
        changed(study, sources=[{"name": "p", "points": [[x, y, z - 3.0]]}]).sample(0)


def test_cells_of_one_height_far_from_all_others_are_told(study, folder):
    """Zeros where nothing was surveyed, in a file that declares another value as NoData."""
    lines = (folder / "terrain.asc").read_text().splitlines()
    for k in range(40, 60):
        lines[k] = " ".join(["0"] * 30 + lines[k].split()[30:])
    (folder / "zeros.asc").write_text("\n".join(lines) + "\n")
    terrain = {"file": "zeros.asc", "crs": "EPSG:2056"}
    found = check_study(changed(study, terrain=terrain).with_runs(count=20)).findings
    assert any("600 cells of exactly 0 m" in str(f) and "nodata = 0" in str(f) for f in found)
    good = changed(study, terrain=terrain | {"nodata": 0.0}).with_runs(count=20)
    assert not any("exactly" in str(f) for f in check_study(good).findings)
    assert len(good.slope.triangles) < len(study.slope.triangles)


@pytest.mark.parametrize(("crs", "ways"), [("EPSG:2048", "south and west"), ("EPSG:3031", "north")])
def test_maps_whose_axes_run_elsewhere_are_told(study, crs, ways):
    """Hartebeesthoek 94 counts to the west and south; polar maps have north on all sides."""
    place = {"points": [[CORNER[0] + 200, CORNER[1] + 320]]}
    parts = {"materials": {"default": "talus", "classes": {"talus": {"restitution": 0.3,
             "friction": 0.5}}}, "barriers": [], "forest": [], "check_lines": []}  # fmt: skip
    turned = changed(
        study, terrain={"file": "terrain.asc", "crs": crs}, sources=[{"name": "p"} | place], **parts
    )
    found = check_study(turned.with_runs(count=5)).findings
    assert any(f"{crs} run {ways}, not" in str(f) for f in found)


def test_a_title_block_takes_dates_and_numbers_without_quotes(folder):
    path = folder / "study.toml"
    given = path.read_text().replace('revision = "A, draft"', "revision = 2\ndate = 2026-11-19")
    path.write_text(given)
    block = Study.load(path).settings.report
    assert (block.revision, block.date) == ("2", "2026-11-19")
    path.write_text(given.replace("revision = 2", "revision = true"))
    with pytest.raises(InputError, match=r"report.revision"):
        Study.load(path)

"""Nets across gullies: nothing that crosses their line below their top gets past them."""

import os

import numpy as np
import pytest

from drystone.rockfall.engine.barriers import Barriers, Net, build_barriers, join_barriers
from drystone.rockfall.engine.lumped_mass import roll_lumped
from drystone.rockfall.engine.records import OVERTOPPED, PASSED, POSITION, STOPPED
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Scene, Start, roll, roll_many
from drystone.rockfall.terrain.drape import drape
from drystone.rockfall.terrain.materials import uniform_surface
from drystone.rockfall.terrain.slope import Slope
from shared_data import DATA, needs_data

pytest.importorskip("shapely", reason="needs the extra drystone[rockfall]")

CELL = 5.0
SHORT = Options(max_time=20.0)
TERRAIN = DATA / "terrain" / "avaKot.asc"


def gully(depth, degrees=35.0, size=21):
    """A plane falling to the south with one column of nodes lowered: a gully down the slope."""
    y = CELL * np.arange(size)
    z = np.repeat((np.tan(np.radians(degrees)) * y)[:, None], size, axis=1)
    z[:, size // 2] -= depth
    return Slope.from_grid(z, CELL)


def gully_rolls(depth, offset, kind=roll_many, count=60):
    slope = gully(depth)
    low, high = slope.bounds
    x = np.array([low[0] + offset, high[0] - CELL + offset])
    line = np.column_stack([x, np.full(2, 0.5 * (low[1] + high[1]) + 0.3 * offset)])
    barriers = build_barriers(slope, [line], [5.0], [np.inf])
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.2, 0.4), barriers)
    middle = 0.5 * (low[0] + high[0])
    places = np.random.default_rng(1).uniform(-8.0, 8.0, (count, 2))
    starts = []
    for dx, dy in places:
        x, y = middle + dx, high[1] - 15.0 + 0.5 * dy
        starts.append(Start((x, y, float(slope.height(x, y)) + 1.2), (0.0, -6.0, 0.0)))
    return kind([Rock.sphere(1.0)] * count, starts, scene)


@pytest.mark.parametrize("depth", [0.0, 1.0, 3.0, 5.0])
@pytest.mark.parametrize("offset", [0.0, 1.3, 2.5])
def test_no_rock_gets_past_a_net_across_a_gully(depth, offset):
    """With feet every spacing, 9 to 23 of the 60 got below the chord between two of them."""
    outcomes = [r.crossings["outcome"].tolist() for r in gully_rolls(depth, offset)]
    assert outcomes == [[STOPPED]] * 60


@pytest.mark.parametrize("seed", range(4))
def test_nor_across_any_gully_with_any_feet(seed):
    """Depth 0 to 5 m, feet anywhere in a cell."""
    rng = np.random.default_rng([26, seed])
    outcomes = [r.crossings["outcome"].tolist()
                for r in gully_rolls(rng.uniform(0.0, 5.0), rng.uniform(0.0, CELL))]  # fmt: skip
    assert outcomes == [[STOPPED]] * 60


NETS = {
    "aslant": ([(-45, -14), (45, 17)], 0.0),
    "bent in the gully": ([(-45, 3), (1, -9), (1.7, 8), (45, -4)], 0.0),
    "drawn from east to west": ([(45, 2), (-45, 1)], 0.0),
    "leaning uphill": ([(-45, 1.3), (45, -2)], 0.5),
    "leaning downhill": ([(-45, 1.3), (45, -2)], -0.5),
}


@pytest.mark.parametrize("name", NETS)
def test_nor_past_one_that_is_aslant_bent_or_leans(name):
    """A gully of 4 m; no rock may get below the whole net unseen."""
    slope = gully(4.0)
    points, lean = NETS[name]
    low, high = slope.bounds
    middle = 0.5 * (low + high)[:2]
    net = Net(np.array(points, float) + middle, 8.0, np.inf, inclination=lean)
    barriers = join_barriers(slope, [net])
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.2, 0.4), barriers)
    starts = []
    for dx, dy in np.random.default_rng(2).uniform(-8.0, 8.0, (60, 2)):
        x, y = middle[0] + dx, high[1] - 15.0 + 0.5 * dy
        starts.append(Start((x, y, float(slope.height(x, y)) + 1.2), (0.0, -6.0, 0.0)))
    rolled = roll_many([Rock.sphere(1.0)] * 60, starts, scene)
    assert all(len(r.crossings) for r in rolled)
    assert all(r.crossings["outcome"][-1] == STOPPED for r in rolled)


def test_nor_does_a_point(depth=3.0, offset=2.5):
    assert all(r.crossings["outcome"].tolist() == [STOPPED]
               for r in gully_rolls(depth, offset, roll_lumped))  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_feet_follow_the_ground_between_them(seed):
    rng = np.random.default_rng(seed)
    slope = Slope.from_grid(rng.uniform(0.0, 5.0, (12, 15)), (2.0, 3.0), origin=(-7.0, -9.0))
    low, high = slope.bounds
    line = rng.uniform(low[:2], high[:2], (4, 2))
    mesh = Slope.from_mesh(slope.vertices, slope.triangles)
    for one in (slope, mesh):
        feet = drape(one, line)
        share = rng.uniform(0.0, 1.0, (len(feet) - 1, 1))
        between = feet[:-1] + share * np.diff(feet, axis=0)
        ground = one.height(between[:, 0], between[:, 1])
        np.testing.assert_allclose(between[:, 2], ground, atol=1e-6)


def twin(slope, line, arcs):
    """All crossings of an upright net: the roots of every arc with every piece of the line, by the
    formula of school, with no step, no side and no order."""
    length, found = arcs["t1"] - arcs["t0"], []
    for p, q in zip(line[:-1], line[1:], strict=True):
        n = np.array([p[1] - q[1], q[0] - p[0]])
        a, b = 0.5 * arcs["a"][:, :2] @ n, arcs["v"][:, :2] @ n
        c = (arcs["x"][:, :2] - p) @ n
        with np.errstate(all="ignore"):
            root = np.sqrt(b * b - 4.0 * a * c)  # NaN: never on the plane
            far = -0.5 * (b + np.where(b >= 0.0, root, -root))
            both = np.stack([far / a, np.where(far != 0.0, c / far, np.nan)])
        both[0, a == 0.0] = np.nan  # a straight path: the other root is its only one
        for s in both:
            with np.errstate(invalid="ignore"):
                rows = np.flatnonzero((s >= -1e-9) & (s <= length + 1e-9))
            x = arcs["x"][rows] + s[rows, None] * (
                arcs["v"][rows] + 0.5 * s[rows, None] * arcs["a"][rows]
            )
            share = (x[:, :2] - p) @ (q - p) / ((q - p) @ (q - p))
            for k in np.flatnonzero((share >= 0.0) & (share <= 1.0)):
                height = x[k, 2] - float(slope.height(x[k, 0], x[k, 1]))
                found.append((arcs["t0"][rows[k]] + s[rows[k]], height))
    found.sort()  # arcs end where a net was crossed: that crossing is then at both their ends
    return [one for k, one in enumerate(found) if k == 0 or one[0] > found[k - 1][0] + 1e-6]


def random_lines(slope, arcs, rng, count):
    """Bent lines across the way of a rock."""
    low, high = slope.bounds
    for _ in range(count):
        middle = arcs["x"][rng.integers(len(arcs)), :2]
        span = rng.uniform(5.0, 80.0)
        line = middle + rng.normal(0.0, span, (3, 2))
        inside = ((line > low[:2] + 1.0) & (line < high[:2] - 1.0)).all()
        if inside and not np.isnan(slope.height(*line.T)).any():
            yield line


# Lines that are tried; 10,000 of them take some minutes (DRYSTONE_LINES=10000).
LINES = int(os.environ.get("DRYSTONE_LINES", "240"))


@pytest.mark.slow
@needs_data(TERRAIN, "crossings of random lines on a real elevation model")
def test_every_crossing_on_real_terrain_is_recorded():
    """Nets of next to no capacity are as good as check lines: paths stay what they are."""
    slope = Slope.from_file(TERRAIN, crs="local")
    bare = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.4, 0.5))
    rng, lines, crossings, below_top = np.random.default_rng(5), 0, 0, 0
    low, high = slope.bounds
    while lines < LINES:
        x, y = rng.uniform(low[:2] + 0.2 * (high - low)[:2], high[:2] - 0.2 * (high - low)[:2])
        if np.isnan(slope.height(x, y)):
            continue
        start = Start((x, y, float(slope.height(x, y)) + 3.0), (3.0, 0.0, 0.0), spin=(0, 3.0, 0))
        rock = Rock.chamfered(1.2, 1.0, 0.8)
        arcs = roll(rock, start, bare, SHORT).arcs
        for line in random_lines(slope, arcs, rng, 20):
            barriers = build_barriers(slope, [line], [4.0], [1e-12])
            scene = Scene(bare.grid, bare.surface, barriers, bare.forest)
            path = roll(rock, start, scene, SHORT)
            wanted, got = twin(slope, line, path.arcs), path.crossings
            assert len(wanted) == len(got), (lines, line)
            lines += 1
            if not len(got):
                continue
            np.testing.assert_allclose(got["t"], [t for t, _ in wanted], atol=1e-6)
            np.testing.assert_allclose(got["height"], [h for _, h in wanted], atol=1e-5)
            below = np.array([h for _, h in wanted]) <= 4.0
            assert (got["outcome"][below] == PASSED).all()
            assert (got["outcome"][~below] == OVERTOPPED).all()
            crossings, below_top = crossings + len(got), below_top + int(below.sum())
    print(f"{lines} lines, {crossings} crossings, {below_top} below the top, all recorded")
    assert crossings > 0.3 * lines


def flat():
    return Slope.from_grid(np.zeros((41, 41)), 1.0, origin=(-20.0, -20.0))


def thrown(net, speed, height=1.0, rise=0.0):
    slope = flat()
    barriers = join_barriers(slope, [net])
    surface = uniform_surface(0.0, 0.0)
    scene = Scene.build(slope.vertices, slope.triangles, surface, barriers)
    start = Start((-3.0, 0.0, height), (speed, 0.0, rise))
    return roll(Rock.sphere(0.5), start, scene, Options(gravity=0.0))


LINE = np.array([[0.0, -5.0], [0.0, 5.0]])


def test_an_inclined_net_is_met_where_it_leans():
    """30 degrees to the left of the line, to the west: at a height of 2 m 1.15 m before it."""
    net = Net(LINE, 4.0, np.inf, np.radians(30.0))
    path = thrown(net, 10.0, height=2.0)
    assert path.crossings["outcome"].tolist() == [STOPPED]
    np.testing.assert_allclose(path.end["x"][0], -2.0 * np.tan(np.radians(30.0)), atol=1e-9)
    np.testing.assert_allclose(path.crossings["height"], 2.0)


def test_over_an_inclined_net():
    net = Net(LINE, 4.0, np.inf, np.radians(30.0))
    path = thrown(net, 10.0, height=4.0)
    assert path.crossings["outcome"].tolist() == [OVERTOPPED]
    np.testing.assert_allclose(path.crossings["height"], 4.0)


def test_any_mesh_takes_energy_once_for_each_of_its_skins():
    """A sail of two triangles; capacity 10 kJ of 0.5 m v² = 8.74 kJ at 10 m/s, 34.9 at 20."""
    sail = np.array([[[0, -3, 0], [0, 3, 0], [0, 0, 6.0]], [[0, -3, 0], [0, 0, 6.0], [0, -3, 6]]])
    net = Net(LINE, 6.0, 10e3, mesh=sail.astype(float))
    mass = Rock.sphere(0.5).mass
    assert thrown(net, 10.0).crossings["outcome"].tolist() == [STOPPED]
    path = thrown(net, 20.0)
    assert path.crossings["outcome"].tolist() == [PASSED] and path.end["reason"] == POSITION
    speed = np.sqrt(20.0**2 - 2.0 * 10e3 / mass)
    np.testing.assert_allclose(np.linalg.norm(path.arcs["v"][-1]), speed, rtol=1e-12)


@pytest.mark.parametrize("speed", [5.0, 12.0, 25.0, 60.0])
def test_attenuation_is_a_function_of_the_energy(speed):
    table = np.array([[5e3, 5e3], [20e3, 12e3], [50e3, 15e3]])
    net = Net(LINE, 6.0, np.inf, attenuation=table)
    energy = 0.5 * Rock.sphere(0.5).mass * speed**2
    taken = float(np.interp(energy, np.append(0, table[:, 0]), np.append(0, table[:, 1])))
    np.testing.assert_allclose(thrown(net, speed).crossings["taken"], taken, rtol=1e-12)


def test_two_nets_on_one_line_both_count():
    slope = flat()
    barriers = build_barriers(slope, [LINE, LINE], [3.0, 4.0], [1e3, 2e3])
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.0, 0.0), barriers)
    path = roll(Rock.sphere(0.5), Start((-3.0, 0.0, 1.0), (9.7, 0.3, 0.0)), scene,
                Options(gravity=0.0))  # fmt: skip
    assert sorted(path.crossings["barrier"].tolist()) == [0, 1]
    assert sorted(path.crossings["taken"].tolist()) == [1e3, 2e3]


def test_panels_given_alone_get_their_pieces():
    """Barriers of plain panels, as before there were pieces: three on one line, one apart."""
    feet = np.array([[0.0, y, 0.0] for y in (-5.0, -2.0, 1.0, 5.0)])
    foot_a = np.vstack([feet[:-1], [[4.0, 0.0, 0.0]]])
    foot_b = np.vstack([feet[1:], [[4.0, 3.0, 0.0]]])
    owner = np.array([0, 0, 0, 1], np.int32)
    barriers = Barriers(foot_a, foot_b, np.full(4, 3.0), owner, np.array([np.inf, 1.0]))
    slope = flat()
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.0, 0.0), barriers)
    assert scene.barriers.span.tolist() == [0, 3, 4]

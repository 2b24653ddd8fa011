"""Terrains: orientation of grids, welding, neighbours, cells, files and error sentences."""

import numpy as np
import pytest
import trimesh
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drystone.bench.fuzz.odd_values import Raises
from drystone.errors import InputError
from drystone.model import arrays
from drystone.shapes import Terrain

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)


def height_at(terrain, x, y):
    """Height of the surface over (x, y), from all triangles by barycentric coordinates."""
    corners = terrain.vertices[terrain.faces]
    for a, b, c in corners:
        matrix = np.array([[b[0] - a[0], c[0] - a[0]], [b[1] - a[1], c[1] - a[1]]])
        u, v = np.linalg.solve(matrix, [x - a[0], y - a[1]])
        if u >= -1e-9 and v >= -1e-9 and u + v <= 1 + 1e-9:
            return a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2])
    return None


def naive_neighbours(triangles):
    """Look at all pairs of triangles."""
    ways = {(t[k], t[(k + 1) % 3]): i for i, t in enumerate(triangles) for k in range(3)}
    return [[ways.get((t[(k + 1) % 3], t[k]), -1) for k in range(3)] for t in triangles]


def random_grid(seed, holes=0.0):
    rng = np.random.default_rng(seed)
    heights = rng.normal(size=(rng.integers(2, 9), rng.integers(2, 9)))
    heights[rng.uniform(size=heights.shape) < holes] = np.nan
    return heights


# Grids


@pytest.mark.parametrize("first_row", ["south", "north"])
def test_grid_stands_where_it_was_put(first_row):
    heights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    terrain = Terrain.from_grid(heights, (10, 20), origin=(100, 200), first_row=first_row)
    rows = {"south": heights, "north": heights[::-1]}[first_row]
    for i in range(2):
        for j in range(3):
            assert height_at(terrain, 100 + 10 * j, 200 + 20 * i) == pytest.approx(rows[i, j])
    # The diagonal runs from south-west to north-east, so the middle of a cell is their mean.
    assert height_at(terrain, 105, 210) == pytest.approx((rows[0, 0] + rows[1, 1]) / 2)
    assert len(terrain.faces) == 4
    assert (terrain.table.normal[:, 2] > 0).all()


def test_cell_with_a_missing_corner_is_a_hole():
    heights = np.zeros((3, 4))
    heights[0, 0] = np.nan
    terrain = Terrain.from_grid(heights, 1.0)
    assert len(terrain.faces) == 2 * 5
    assert height_at(terrain, 0.7, 0.7) is None
    assert height_at(terrain, 0.7, 1.3) == 0
    assert len(terrain.vertices) == 11


def test_map_coordinates_cost_no_digits():
    """The tables are the same there as here; 0.25 m is exact, so bit for bit."""
    heights = random_grid(1)
    near = Terrain.from_grid(heights, 0.25)
    far = Terrain.from_grid(heights, 0.25, origin=(2793293, 1180191))
    np.testing.assert_array_equal(near.table.vertex, far.table.vertex)
    np.testing.assert_array_equal(far.offset - near.offset, [2793293, 1180191, 0])
    moved = Terrain(near.vertices + [2793293, 1180191, 0], near.faces)
    np.testing.assert_array_equal(moved.table.vertex[:, :2], near.table.vertex[:, :2])
    assert np.abs(far.table.vertex).max() < 10


# Tables


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_neighbours_and_normals(seed):
    heights = random_grid(seed, holes=0.1)
    whole = np.isfinite(heights)
    assume((whole[1:, 1:] & whole[:-1, 1:] & whole[1:, :-1] & whole[:-1, :-1]).any())
    terrain = Terrain.from_grid(heights, 0.5)
    table = terrain.table
    assert table.neighbour.tolist() == naive_neighbours(table.triangle.tolist())
    a, b, c = (table.vertex[table.triangle[:, k]] for k in range(3))
    span = np.cross(b - a, c - a)
    np.testing.assert_allclose(
        table.normal, span / np.linalg.norm(span, axis=1)[:, None], atol=1e-12
    )


@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_triangle_soup_is_welded(noise):
    """As STL files are: every triangle with corners of its own, perhaps rounded differently."""
    grid = Terrain.from_grid(random_grid(7), 1.0)
    soup = grid.vertices[grid.faces].reshape(-1, 3)
    soup = soup + noise * np.random.default_rng(0).uniform(-1, 1, size=soup.shape)
    terrain = Terrain(soup, np.arange(len(soup)).reshape(-1, 3))
    assert len(terrain.vertices) == len(grid.vertices)
    np.testing.assert_array_equal(terrain.table.neighbour, grid.table.neighbour)
    corners = terrain.vertices[terrain.faces] - grid.vertices[grid.faces]
    assert np.abs(corners).max() <= 2 * noise + 1e-14


def test_edge_of_three_triangles_is_a_border():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0.5, 1]], dtype=float)
    terrain = Terrain(vertices, [[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    assert terrain.table.neighbour.max() == -1


def check_cells(terrain):
    """Every triangle is listed in exactly the cells that its box reaches into."""
    t = terrain.table
    nx, ny = t.cells
    assert len(t.cell_first) == nx * ny + 1 and t.cell_first[-1] == len(t.cell_triangle)
    boxes = t.vertex[t.triangle][:, :, :2]
    lower = (boxes.min(axis=1) - t.corner) / t.side
    upper = (boxes.max(axis=1) - t.corner) / t.side
    assert lower.min() >= 0 and (upper <= np.array([nx, ny]) + 1e-9).all()
    for j in range(ny):
        for i in range(nx):
            cell = j * nx + i
            listed = t.cell_triangle[t.cell_first[cell] : t.cell_first[cell + 1]].tolist()
            over = np.minimum(upper, [i + 1, j + 1]) - np.maximum(lower, [i, j])
            deep = np.flatnonzero((over > 2e-9).all(axis=1)).tolist()
            touching = np.flatnonzero((over > -1e-9).all(axis=1)).tolist()
            assert listed == sorted(listed)
            assert set(deep) <= set(listed) <= set(touching)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_cells_list_their_triangles(seed):
    rng = np.random.default_rng(seed)
    grid = Terrain.from_grid(random_grid(seed), float(rng.uniform(0.1, 10)))
    check_cells(grid)
    vertices = grid.vertices
    vertices[:, :2] += rng.uniform(-0.02, 0.02, size=(len(vertices), 2))
    check_cells(Terrain(vertices, grid.faces))


def test_raster_has_two_triangles_a_cell():
    table = Terrain.from_grid(np.zeros((30, 40)), 0.1).table
    assert table.cells == (39, 29)
    assert (np.diff(table.cell_first) == 2).all()


def test_huge_triangles_among_small_ones_do_not_fill_the_memory():
    small = Terrain.from_grid(np.zeros((40, 40)), 0.001)
    count = len(small.vertices)
    sheets = np.concatenate([SQUARE[:3] * 100 + [0, 0, z] for z in range(1, 300)])
    faces = np.arange(len(sheets)).reshape(-1, 3) + count
    terrain = Terrain(
        np.concatenate([small.vertices, sheets]), np.concatenate([small.faces, faces])
    )
    check_cells(terrain)
    assert len(terrain.table.cell_triangle) <= 12 * len(terrain.faces)


def test_vertical_wall_has_cells_too():
    wall = SQUARE[:, [0, 2, 1]]
    terrain = Terrain(wall, [[0, 1, 2], [0, 2, 3]])
    check_cells(terrain)
    np.testing.assert_array_equal(terrain.table.normal, [[0, -1, 0]] * 2)


def test_part_of_terrain():
    terrain = Terrain.from_grid(np.zeros((3, 3)), 2.0, origin=(100, 50))
    (part,) = terrain.parts()
    assert part.kind == arrays.TERRAIN and part.geometry is terrain.table
    np.testing.assert_array_equal(part.position, terrain.offset)
    assert part.radius == pytest.approx(np.linalg.norm(terrain.table.vertex, axis=1).max())
    lower, upper = terrain.bounds
    assert lower.tolist() == [100, 50, 0] and upper.tolist() == [104, 54, 0]
    assert repr(terrain) == "Terrain(8 triangles, 4 x 4 x 0 m)"
    with pytest.raises(InputError, match="can only be fixed"):
        terrain.mass_properties()


# Files


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply"])
def test_load_mesh_file(tmp_path, suffix):
    grid = Terrain.from_grid(random_grid(3), 1.0)
    path = tmp_path / f"hill.{suffix}"
    trimesh.Trimesh(grid.vertices, grid.faces, process=False).export(path)
    terrain = Terrain.load(path)
    assert len(terrain.vertices) == len(grid.vertices)
    np.testing.assert_allclose(  # STL and PLY hold float32
        terrain.vertices[terrain.faces], grid.vertices[grid.faces], atol=1e-6
    )
    np.testing.assert_array_equal(terrain.table.neighbour, grid.table.neighbour)


def test_load_leaves_out_faces_without_area(tmp_path):
    path = tmp_path / "square.obj"
    rows = [f"v {x} {y} {z}" for x, y, z in SQUARE] + ["f 1 2 3", "f 1 1 2", "f 1 3 4"]
    path.write_text("\n".join(rows))
    assert len(Terrain.load(str(path)).faces) == 2


ASC = """ncols 3
nrows 2
xllcorner 1000
yllcorner 2000
cellsize 10
NODATA_value -1
1 2 3
4 5 6
"""


def test_load_ascii_grid(tmp_path):
    """Rows run from north to south; heights stand at the centres of the cells."""
    path = tmp_path / "dem.asc"
    path.write_text(ASC)
    terrain = Terrain.load(path)
    assert height_at(terrain, 1005, 2005) == pytest.approx(4)
    assert height_at(terrain, 1025, 2015) == pytest.approx(3)
    path.write_text(ASC.replace("corner", "center"))
    assert height_at(Terrain.load(path), 1000, 2000) == pytest.approx(4)
    path.write_text(ASC.replace("1 2 3", "-1 2 3"))
    assert len(Terrain.load(path).faces) == 2


@pytest.mark.parametrize(
    "text, words",
    [
        (ASC.replace("4 5 6", "4 5"), "dem.asc: holds 5 heights, but nrows 2 times ncols 3 is 6"),
        (ASC.replace("cellsize 10", ""), "dem.asc: no cellsize"),
        (ASC.replace("yllcorner 2000", ""), "dem.asc: no yllcorner or yllcenter"),
        (ASC.replace("4 5 6", "4 x 6"), "a height is not a number"),
        (ASC.replace("cellsize 10", "cellsize -2"), "cellsize is -2 m, must be > 0"),
        ("hello", "no ncols"),
        ("", "no ncols"),
    ],
)
def test_bad_ascii_grid_is_named(tmp_path, text, words):
    path = tmp_path / "dem.asc"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        Terrain.load(path)
    assert words in str(error.value)


@pytest.mark.parametrize("name, text", [("none.stl", None), ("bad.stl", "junk"), ("odd.xyzq", "1")])
def test_unreadable_mesh_file_is_named(tmp_path, name, text):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=name):
        Terrain.load(path)


# What users get wrong


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Terrain(SQUARE, [[0, 1, 4]]), "face 0 is [0, 1, 4], but vertices go from 0 to 3"),
        (lambda: Terrain(SQUARE, [[0, 1, -1]]), "face 0 is [0, 1, -1]"),
        (lambda: Terrain(SQUARE, np.empty((0, 3), int)), "has no faces"),
        (lambda: Terrain(SQUARE, [[0, 1, 2, 3]]), "faces have shape (1, 4), must be (m, 3)"),
        (lambda: Terrain(SQUARE, [[0, 1, 2], [0, 1]]), "must be an array of shape (m, 3)"),
        (lambda: Terrain(SQUARE, Raises()), "must be an array of shape (m, 3)"),
        (lambda: Terrain(SQUARE, [[0.0, 1, 2]]), "must be integers"),
        (lambda: Terrain(SQUARE, [[0, 1, 2], [0, 3, 3]]), "face 1 has no area (1 such faces)"),
        (lambda: Terrain([[0, 0, 0], [1, 1, 0], [2, 2, 0]], [[0, 1, 2]]), "face 0 has no area"),
        (lambda: Terrain(SQUARE, [[0, 1, 2], [0, 3, 2]]), "faces 0 and 1 run along"),
        (lambda: Terrain(SQUARE, [[0, 2, 1], [0, 3, 2]]), "all faces look down"),
        (lambda: Terrain(SQUARE * np.nan, [[0, 1, 2]]), "row 0 is [nan, nan, nan]"),
        (lambda: Terrain(SQUARE * 0, [[0, 1, 2]]), "all 4 vertices are the same"),
        (lambda: Terrain(SQUARE[:, :2], [[0, 1, 2]]), "shape (4, 2), must be (n, 3)"),
        (lambda: Terrain.from_grid(np.zeros(4), 1), "heights have shape (4,)"),
        (lambda: Terrain.from_grid(np.zeros((1, 4)), 1), "2 at least each"),
        (lambda: Terrain.from_grid(np.full((2, 2), np.inf), 1), "row 0, column 0 is infinite"),
        (lambda: Terrain.from_grid(np.full((2, 2), np.nan), 1), "no cell of the grid"),
        (lambda: Terrain.from_grid(np.zeros((2, 2)), 0), "spacing is 0 m, must be > 0"),
        (lambda: Terrain.from_grid(np.zeros((2, 2)), (1, -1)), "spacing in y is -1 m"),
        (lambda: Terrain.from_grid(np.zeros((2, 2)), 1, (0, 0, 0)), "origin has 3 numbers"),
        (lambda: Terrain.from_grid(np.zeros((2, 2)), 1, first_row="top"), "first_row is 'top'"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)

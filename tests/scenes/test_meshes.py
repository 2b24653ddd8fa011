"""Meshes that scenes are made of: closed, outward, not crossing themselves, of the right volume."""

from math import cos, pi, sin

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.scenes.meshes import chess_pieces, tracks
from drystone.scenes.meshes.creature import ball, creature
from drystone.scenes.meshes.extrusions import channel, circle, egg, extrude, plate, square
from drystone.scenes.meshes.gears import gear_outline, rack_lines
from drystone.scenes.meshes.revolutions import refine, revolve, torus
from drystone.scenes.meshes.shells import bowl, funnel, helmet
from triangle_crossings import crossing_pairs

SLOPE = np.radians(60.0)
PIECES = tracks.loop_pieces(2.8, SLOPE, 1.0, 1.0, 0.8, 0.5, np.radians(15.0))
MESHES = {
    **chess_pieces.PIECES,
    "torus": lambda: torus(0.1, 0.04),
    "helmet": lambda: helmet(rings=20, sections=34),
    "bowl": lambda: bowl(0.8, 0.05, 16, 32),
    "funnel": lambda: funnel(2.4, 0.7, 2.0, 1.0, 0.1),
    "creature": creature,
    "gear": lambda: plate(gear_outline(18, 0.02), 0.04, 0.05),
    "cam": lambda: plate(egg(0.08, 0.05), 0.04, 0.05),
    "block": lambda: plate(square(0.03, 64), 0.005, 0.02),
    "rack": lambda: extrude(*rack_lines(6, 0.02, 0.001, 0.05), 0.05, closed=False),
    "channel": lambda: channel(0.3, 0.3, 0.05, 1.0),
    "track": lambda: tracks.extrude_along(PIECES, -SLOPE, 0.16, 1.0, 0.05, turn_deg=5.0),
}


def polygon_share(sections):
    """Area of a regular polygon over that of the circle through its corners."""
    return sections * sin(2 * pi / sections) / (2 * pi)


def revolved_volume(profile):
    """π ∫ r² dz along a profile of straight pieces: a cone is cut off between every two points."""
    r, z = np.asarray(profile, float).T
    return pi / 3 * np.sum(np.diff(z) * (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2))


@pytest.mark.parametrize("name", MESHES)
def test_mesh_is_closed_outward_and_free_of_crossings(name):
    vertices, faces = MESHES[name]()
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.body_count == 1
    assert mesh.volume > 0.0
    assert mesh.area_faces.min() > 0.0
    assert len(np.unique(faces)) == len(vertices)
    assert len(crossing_pairs(vertices, faces)) == 0


def test_crossings_are_found_where_there_are_some():
    """A dent pushed through the opposite side of a ball."""
    vertices, faces = ball(2)
    vertices[np.argmax(vertices[:, 2])] = (0.03, 0.02, -1.5)
    assert len(crossing_pairs(vertices, faces)) > 0


def test_numbers_of_triangles_are_those_of_the_paper():
    counts = {name: len(make()[1]) for name, make in chess_pieces.PIECES.items()}
    assert counts["pawn"] == min(counts.values()) == 1916
    assert counts["queen"] == max(counts.values()) == 5814
    assert len(helmet()[1]) == 24308


@pytest.mark.parametrize("name", ["pawn", "rook", "bishop", "queen"])
def test_turned_pieces_have_the_volume_of_their_profile(name):
    vertices, faces = chess_pieces.PIECES[name]()
    sections, points = {"pawn": (32, 30), "rook": (40, 40), "bishop": (44, 44), "queen": (51, 59)}[
        name
    ]
    profile = 1e-3 * refine(getattr(chess_pieces, name.upper()), points)
    volume = trimesh.Trimesh(vertices, faces, process=False).volume
    assert volume == pytest.approx(polygon_share(sections) * revolved_volume(profile), rel=1e-12)


def test_knight_is_no_solid_of_revolution():
    vertices, faces = chess_pieces.knight()
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    inertia = np.linalg.eigvalsh(mesh.moment_inertia)
    assert np.diff(inertia).min() > 0.02 * inertia.max()


@given(
    st.lists(
        st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=8
    ),
    st.booleans(), st.booleans(), st.integers(3, 20),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_any_rising_profile_turns_into_a_closed_solid(rings, low_pole, high_pole, sections):
    rings = [*rings, (0.5, 0.5)]
    radius, height = [r for r, _ in rings], np.cumsum([dz for _, dz in rings])
    profile = list(zip(radius, height, strict=True))
    profile = [(0.0, 0.0)] * low_pole + profile + [(0.0, height[-1] + 0.1)] * high_pole
    vertices, faces = revolve(profile, sections)
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    assert mesh.is_watertight and mesh.euler_number == 2
    assert len(faces) == 2 * len(vertices) - 4
    expected = polygon_share(sections) * revolved_volume(profile)
    assert mesh.volume == pytest.approx(expected, rel=1e-9)


def test_refined_curves_keep_their_points():
    points = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 3.0), (0.0, 3.5)])
    curve = refine(points, 20)
    assert len(curve) == 20
    assert np.abs(curve[:, None] - points).sum(axis=2).min(axis=0).max() < 1e-12
    assert curve[:, 0].min() == 0.0 and curve[:, 0].max() == pytest.approx(1.0)


def test_torus_has_the_volume_of_pappus():
    """A polygon of area a, its middle at R, turned around R: 2 π R a, less the corners cut off."""
    vertices, faces = torus(0.1, 0.04, 25, 12)
    area = polygon_share(12) * pi * 0.04**2
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    assert mesh.volume == pytest.approx(polygon_share(25) * 2 * pi * 0.1 * area, rel=1e-12)
    assert mesh.euler_number == 0


def test_helmet_is_a_thin_shell():
    """Twice the volume over the area is the mean thickness; the lip of the brim is wider."""
    vertices, faces = helmet()
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    assert 2 * mesh.volume / mesh.area < 0.008
    rings = vertices[:-2].reshape(2 * 59, 103, 3)
    wall = np.linalg.norm(rings[:59] - rings[:58:-1], axis=2)  # from inside to outside
    assert 0.004 < wall.min() and wall.max() < 0.015


def test_peg_fits_into_the_hole_at_every_angle():
    """The hole is drawn around a circle of 10 mm, the peg within one of 9.99 mm."""
    sections, radius = 48, 0.005
    vertices, _ = plate(square(0.03, sections), radius, 0.02)
    wall = vertices[2 * sections : 3 * sections, :2]
    ends = np.roll(wall, -1, axis=0)
    along = (ends - wall) / np.linalg.norm(ends - wall, axis=1)[:, None]
    off_axis = np.abs(wall[:, 0] * along[:, 1] - wall[:, 1] * along[:, 0])
    assert off_axis.min() == pytest.approx(radius, rel=1e-12)
    peg, _ = revolve([(0.004995, 0.0), (0.004995, 0.03)], 40)
    assert np.hypot(peg[:, 0], peg[:, 1]).max() <= 0.004995 + 1e-14


def test_bore_is_open_where_the_outline_is_unevenly_divided():
    outline = gear_outline(14, 0.02)
    vertices, _ = plate(outline, 0.03, 0.05)
    k = len(outline)
    wall = vertices[2 * k : 3 * k, :2]
    middle = (wall + np.roll(wall, -1, axis=0)) / 2
    assert np.hypot(*middle.T).min() >= 0.03 - 1e-12


def _turned(outline, angle):
    c, s = cos(angle), sin(angle)
    return outline @ np.array([[c, s], [-s, c]])


@pytest.mark.parametrize("teeth", [(14, 14), (14, 21), (18, 30)])
def test_gears_run_together_without_overlap(teeth):
    """At a distance of the pitch radii and any phase: apart, but by no more than the backlash."""
    shapely = pytest.importorskip("shapely")
    module, backlash = 0.02, 2e-4
    first, second = (gear_outline(z, module, backlash, points=9) for z in teeth)
    middle = np.array([module * sum(teeth) / 2, 0.0])
    start = pi + pi / teeth[1]  # a gap of the second gear faces a tooth of the first
    for part in np.linspace(0.0, 1.0, 13):
        turn_1 = part * 2 * pi / teeth[0]
        turn_2 = start - turn_1 * teeth[0] / teeth[1]
        a = shapely.Polygon(_turned(first, turn_1))
        b = shapely.Polygon(_turned(second, turn_2) + middle)
        assert a.intersection(b).area < 1e-9
        assert a.distance(b) < 2.5 * backlash


def test_rack_runs_with_its_gear():
    shapely = pytest.importorskip("shapely")
    module, backlash, teeth = 0.02, 2e-4, 18
    gear = gear_outline(teeth, module, backlash, points=9)
    line, back = rack_lines(7, module, backlash, 0.05)
    rack = np.concatenate([line, back[::-1]])
    for part in np.linspace(0.0, 1.0, 13):
        # A tooth of the gear points up, between two of the rack.
        a = shapely.Polygon(_turned(gear, pi / 2 + part * 2 * pi / teeth))
        shift = -(3.5 + part) * pi * module, module * teeth / 2
        b = shapely.Polygon(rack + shift)
        assert a.intersection(b).area < 1e-9
        assert a.distance(b) < 2.5 * backlash


def test_cam_lifts_by_its_lift():
    outline = egg(0.08, 0.05)
    reach = np.hypot(*outline.T)
    assert reach.min() == pytest.approx(0.08, abs=1e-12)
    assert reach.max() == pytest.approx(0.13, abs=1e-12)


def test_creature_is_seen_whole_from_within():
    """So it cannot cross itself; and it is far from convex."""
    vertices, faces = creature()
    assert np.linalg.det(vertices[faces]).min() > 0.0
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    assert mesh.volume < 0.8 * mesh.convex_hull.volume


def test_square_has_its_corners():
    outline = square(2.0, 48)
    for corner in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
        assert np.linalg.norm(outline - corner, axis=1).min() < 1e-12
    assert np.abs(circle(0.5, 48)).max() == 0.5


def test_loop_of_the_track_closes_beside_itself():
    """Back at the same x and z after a whole turn, `drift` further along y, heading level."""
    points, headings, lengths = tracks.path_rows(PIECES, -SLOPE)
    start, end = (np.argmin(np.abs(lengths - sum(p.length for p in PIECES[:k]))) for k in (3, 4))
    assert points[end] - points[start] == pytest.approx([0.0, 0.5, 0.0], abs=1e-12)
    assert headings[start] == pytest.approx(0.0, abs=1e-12)
    assert headings[end] == pytest.approx(2 * pi)
    loop = points[start : end + 1]
    middle = points[start] + (0, 0, 0.8)
    assert np.hypot(*(loop - middle)[:, [0, 2]].T) == pytest.approx(0.8)
    assert points[0, 2] - points[start, 2] == pytest.approx(2.8 + 1.0 - cos(SLOPE))
    assert points[-1, 2] == pytest.approx(points[0, 2])

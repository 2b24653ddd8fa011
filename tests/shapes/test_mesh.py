"""Meshes as shapes: exact mass, options, decomposition, sharing, saving."""

import sys
from fractions import Fraction

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.errors import InputError
from drystone.model.arrays import MESH
from drystone.shapes import Mesh
from mesh_twin import box_at, channel, joined, torus
from shared_data import DATA, needs_data

MESHES = DATA / "meshes"
needs_meshes = needs_data(MESHES, "scanned meshes: their defects and exact mass")

BOX = trimesh.creation.box((1, 2, 3))
V, F = np.array(BOX.vertices), np.array(BOX.faces)


# Mass


def exact_mass(vertices, faces):
    """Volume, centre and inertia about it at density 1, in integers of 2**-80 m."""
    unit = 2**80
    x = np.array([[int(Fraction(float(c)) * unit) for c in row] for row in vertices], dtype=object)
    a, b, c = (x[faces[:, k]] for k in range(3))
    det = (a[:, 0] * (b[:, 1] * c[:, 2] - b[:, 2] * c[:, 1])
           + a[:, 1] * (b[:, 2] * c[:, 0] - b[:, 0] * c[:, 2])
           + a[:, 2] * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]))  # fmt: skip
    s = a + b + c
    volume = Fraction(int(det.sum()), 6)
    centre = [Fraction(int((det * s[:, i]).sum()), 24) / volume for i in range(3)]
    second = [[Fraction(int((det * sum(y[:, i] * y[:, j] for y in (s, a, b, c))).sum()), 120)
               - volume * centre[i] * centre[j] for j in range(3)] for i in range(3)]  # fmt: skip
    trace = sum(second[i][i] for i in range(3))
    inertia = [[(trace if i == j else 0) - second[i][j] for j in range(3)] for i in range(3)]
    return (
        float(volume / unit**3),
        np.array([float(c / unit) for c in centre]),
        np.array([[float(m / unit**5) for m in row] for row in inertia]),
    )


def turned_piece():
    """A chess piece in the manner of a pawn, turned from a profile [m]."""
    z = np.linspace(0, 0.04, 30)
    profile = np.column_stack([0.004 + 0.006 * np.cos(9 * z / 0.04) ** 2, z])
    profile[0, 0] = profile[-1, 0] = 0.0
    return trimesh.creation.revolve(profile, sections=40)


def assert_exact(mesh):
    volume, centre, inertia = exact_mass(mesh.vertices, mesh.faces)
    mass = mesh.mass_properties()
    size = np.ptp(mesh.vertices, axis=0).max()
    assert mass.volume == pytest.approx(volume, rel=1e-10)
    np.testing.assert_allclose(mass.centre, centre, rtol=0, atol=1e-10 * size)
    np.testing.assert_allclose(mass.inertia, inertia, rtol=0, atol=1e-10 * inertia.max())


def test_mass_of_a_torus_and_a_turned_piece_is_exact():
    piece = turned_piece()
    assert_exact(torus(around=60, across=30))
    assert_exact(Mesh(piece.vertices, piece.faces))
    assert_exact(Mesh(torus().vertices + [300, 40, 1000], torus().faces))


@pytest.mark.slow
@needs_meshes
@pytest.mark.parametrize("name", ["stanford-bunny.obj", "pawn.stl", "gear-solid.obj"])
def test_mass_of_scans_is_exact(name):
    scale = 0.001 if name.endswith("stl") else 1.0
    assert_exact(Mesh.load(MESHES / name, scale=scale, repair="bunny" in name))


def test_thin_shell():
    """Half a hollow ball of radius 0.1 m, 1 mm thick."""
    angle = np.linspace(0, np.pi / 2, 40)
    outer = np.column_stack([np.cos(angle), np.sin(angle)]) * 0.1
    inner = outer[::-1] * 0.99
    profile = np.vstack([outer, inner])
    shell = trimesh.creation.revolve(profile[np.r_[:80, 0]], sections=80)
    mesh = Mesh(shell.vertices, shell.faces, repair=True)
    exact = 2 / 3 * np.pi * (0.1**3 - 0.099**3)
    assert mesh.mass_properties().volume == pytest.approx(exact, rel=0.01)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="generator is 'magic'"):
        Mesh(V, F, generator="magic")
    with pytest.raises(InputError, match="generator is array"):
        Mesh(V, F, generator=np.zeros(3))
    for option in ("reduce", "repair"):
        for value in ("no", None, 2, np.nan):
            with pytest.raises(InputError, match=f"{option} is .*must be True or False"):
                Mesh(V, F, **{option: value})
    assert Mesh(V, F, reduce=np.bool_(False)).reduce is False


SHARED = {
    "bishop.stl": "degenerate faces", "king.stl": "intersects itself",
    "knight.stl": "non-manifold edges", "queen.stl": "intersects itself",
    "rook.stl": "intersects itself", "humerus.stl": "is open", "stanford-bunny.obj": "is open",
    "pawn.stl": None, "l_talus.stl": None, "fandisk.obj": None, "gear-solid.obj": None,
    "rocker-arm.obj": None, "erleben/cliff.obj": None, "erleben/crack.obj": None,
    "erleben/hole.obj": None, "erleben/internal_edges.obj": None, "erleben/spike.obj": None,
    "erleben/wedge.obj": None,
}  # fmt: skip


@pytest.mark.slow
@needs_meshes
@pytest.mark.parametrize("name", SHARED)
def test_shared_meshes_load_or_are_refused_for_the_right_reason(name):
    if SHARED[name] is None:
        mesh = Mesh.load(MESHES / name)
        assert mesh.mass_properties().volume > 0
        assert not any(finding.severity == "error" for finding in mesh.findings)
    else:
        with pytest.raises(InputError, match=SHARED[name]):
            Mesh.load(MESHES / name)


# Decomposition


def test_decomposition_is_a_compound_of_hulls():
    pytest.importorskip("coacd")
    mesh = channel()
    hulls = mesh.decompose(threshold=0.05)
    assert isinstance(hulls, ds.Compound) and len(hulls.members) >= 3
    volume = mesh.mass_properties().volume
    assert hulls.mass_properties().volume == pytest.approx(volume, rel=0.02)
    assert len(mesh.decompose(threshold=1, most=1).members) == 1
    with pytest.raises(InputError, match="threshold is 7"):
        mesh.decompose(threshold=7)


def test_options_of_a_decomposition_are_checked():
    wrong = {"threshold": ("a", np.nan), "most": (2.5, "a", 0), "seed": ("a", -1, 0.5)}
    for option, values in wrong.items():
        for value in values:
            with pytest.raises(InputError, match=f"{option} is"):
                torus().decompose(**{option: value})


def test_decomposition_without_coacd_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(InputError, match=r"drystone\[mesh\]"):
        torus().decompose()


# In a world


def test_a_thousand_bodies_share_their_tables():
    mesh = torus(0.1, 0.03)
    world = ds.World()
    for k in range(1000):
        world.add_body(mesh, position=(k % 10, k // 10, 0))
    shapes = world._synced().model.shapes
    assert (shapes.kind == MESH).all() and (shapes.table == 0).all()
    assert len(shapes.terrain) == 1 and len(shapes.triangle) == len(mesh.faces)


def test_body_of_a_mesh_has_its_mass_and_box():
    world = ds.World()
    body = world.add_body(torus(), ds.Material(density=1000), position=(1, 2, 3))
    assert body.mass == pytest.approx(1000 * torus().mass_properties().volume)
    lower, upper = body.shape.bounds
    np.testing.assert_allclose(upper - lower, 2 * body.shape.parts()[0].size, atol=1e-5)
    assert "triangles" in repr(body.shape)


def test_findings_are_repeated_by_the_world():
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(Mesh(V * 1000, F), name="huge")
    assert any("huge (Mesh)" in f.object and "units" in f.what for f in world.check())


def test_saved_world_keeps_its_meshes(tmp_path):
    world = ds.World()
    mesh = Mesh(*joined(box_at(0, (0.2, 0.2, 0.2)), box_at(1, (0.2, 0.2, 0.2))), generator="field")
    world.add_fixed(mesh)
    world.add_body(mesh, position=(0, 0, 5))
    world.save(tmp_path / "world.h5")
    loaded = ds.World.load(tmp_path / "world.h5")
    shape = loaded.bodies[0].shape
    assert shape is loaded.fixed[0].shape
    assert shape.generator == "field" and shape.findings == mesh.findings
    np.testing.assert_array_equal(shape.vertices, mesh.vertices)
    np.testing.assert_array_equal(shape.faces, mesh.faces)
    for name in ("vertex", "triangle", "normal", "neighbour", "cell_triangle"):
        np.testing.assert_array_equal(getattr(shape.table, name), getattr(mesh.table, name))

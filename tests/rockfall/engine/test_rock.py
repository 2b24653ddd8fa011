"""Rocks: exact mass and inertia, principal axes, convex or not."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.engine.rock import Rock, pack_rocks
from rock_scenes import ell


def test_a_block_has_the_mass_and_inertia_of_a_block():
    rock = Rock.block(2.0, 1.0, 0.5, density=3000.0)
    assert rock.mass == pytest.approx(3000.0)
    wanted = 3000.0 / 12.0 * np.array([1 + 0.25, 4 + 0.25, 4 + 1])
    assert rock.inertia == pytest.approx(wanted)
    assert rock.radius == pytest.approx(0.5 * np.sqrt(4 + 1 + 0.25))
    assert rock.convex


def test_a_sphere_and_a_fine_ellipsoid():
    sphere = Rock.sphere(2.0, density=1000.0)
    assert sphere.inertia == pytest.approx(np.full(3, 0.4 * sphere.mass))
    fine = Rock.ellipsoid(2.0, 2.0, 2.0, density=1000.0, finer=4)
    assert fine.mass == pytest.approx(sphere.mass, rel=1e-2)
    assert fine.inertia == pytest.approx(sphere.inertia, rel=2e-2)


def test_an_ell_is_not_convex_and_keeps_its_notch():
    vertices, faces = ell()
    rock = Rock.mesh(vertices + [5.0, -7.0, 3.0], faces, density=1000.0)
    assert not rock.convex
    assert rock.mass == pytest.approx(3000.0)
    assert rock.centre == pytest.approx([5 + 5 / 6, -7 + 5 / 6, 3.5])
    # Three cubes at distances from the centre of mass; the tensor's eigenvalues.
    centres = np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [0.5, 1.5, 0.5]]) - [5 / 6, 5 / 6, 0.5]
    tensor = sum(1000.0 * (np.eye(3) / 6.0 + np.eye(3) * (d @ d) - np.outer(d, d)) for d in centres)
    assert np.sort(rock.inertia) == pytest.approx(np.linalg.eigvalsh(tensor))
    block = Rock.block(1, 1, 1)
    packed = pack_rocks([block, rock, block])
    assert packed.pieces.tolist() == [[0, 1], [1, 1 + len(faces)], [0, 1]]
    assert Rock.hull(vertices).convex


def test_a_convex_mesh_is_one_piece():
    box = Rock.block(1, 2, 3)
    assert Rock.mesh(box.vertices, box.faces).convex


def test_scaling():
    rock = Rock.platy(1.0)
    double = rock.scaled(2.0)
    assert double.mass == pytest.approx(8.0 * rock.mass)
    assert double.inertia == pytest.approx(32.0 * rock.inertia)
    assert rock.with_volume(0.7).volume == pytest.approx(0.7)
    assert np.ptp(Rock.elongated(2.0).vertices, axis=0) == pytest.approx([2.0, 1.0, 1.0])


def test_a_file(tmp_path):
    box = Rock.block(1.0, 2.0, 0.5)
    lines = [f"v {x} {y} {z}" for x, y, z in box.vertices * 100.0]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in box.faces]
    path = tmp_path / "rock.obj"
    path.write_text("\n".join(lines))
    rock = Rock.from_file(path, scale=0.01)
    assert rock.mass == pytest.approx(box.mass)
    with pytest.raises(InputError, match="nothing.obj"):
        Rock.from_file(tmp_path / "nothing.obj")


def test_faces_of_a_file_that_disagree_are_oriented(tmp_path):
    """Every third face is flipped; trimesh would ask for a package that we do not have."""
    box = Rock.block(1.0, 2.0, 0.5)
    faces = [face[::-1] if k % 3 == 0 else face for k, face in enumerate(box.faces + 1)]
    lines = ["v {} {} {}".format(*corner) for corner in box.vertices]
    lines += ["f {} {} {}".format(*face) for face in faces]
    path = tmp_path / "rock.obj"
    path.write_text("\n".join(lines))
    assert Rock.from_file(path).mass == pytest.approx(box.mass)


def test_wrong_rocks_are_refused():
    vertices, faces = ell()
    with pytest.raises(InputError, match="not closed"):
        Rock.mesh(vertices, faces[:-1])
    with pytest.raises(InputError, match="inward"):
        Rock.mesh(vertices, faces[:, ::-1])
    with pytest.raises(InputError, match="diameter is -1"):
        Rock.sphere(-1.0)
    with pytest.raises(InputError, match="density"):
        Rock.block(1, 1, 1, density=0.0)
    for beyond in (1e154, 1e-200):
        with pytest.raises(InputError, match="radius"):
            Rock.sphere(1.0).scaled(beyond)
        with pytest.raises(InputError, match="radius"):
            Rock.sphere(beyond)

"""Pictures and films: nothing but files is needed, and the scene is in them, whole."""

import numpy as np
import pytest

import drystone as ds

pytest.importorskip("pyvista", reason="pictures need pyvista: pip install 'drystone[render]'")
from drystone.world.export.drawing import GROUND, drawing_of_world, rgb
from drystone.world.io.movie import write_movie
from drystone.world.io.render import VIEW_ANGLE, frame_scene


@pytest.fixture(autouse=True)
def no_display(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)


def pair():
    world = ds.World()
    world.add_fixed(ds.Plane())
    world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5), name="crate")
    world.add_body(ds.Sphere(0.5), position=(4, 0, 0.5), name="ball")
    return world


@pytest.mark.parametrize("camera", (None, (0, -1, 0), (0, 0, 1), (1, 1, 0.2)))
def test_all_bodies_are_within_the_frame(camera):
    drawing = drawing_of_world(pair())
    view = frame_scene(drawing, [drawing.pose[0]], camera, 1.5)
    away = (view.eye - view.target) / view.distance
    right = np.cross((0, 0, 1), away)
    right /= np.linalg.norm(right)
    up = np.cross(away, right)
    half = np.tan(np.radians(VIEW_ANGLE / 2))
    for at, radius in ((drawing.pose[0, 0, :3], 3**0.5 / 2), (drawing.pose[0, 1, :3], 0.5)):
        depth = (view.eye - at) @ away
        assert abs((at - view.eye) @ right) + radius <= 1.5 * half * depth
        assert abs((at - view.eye) @ up) + radius <= half * depth


@pytest.mark.slow
def test_the_ground_of_a_picture_has_two_colours_only(tmp_path):
    """Its own and that of the shadow, and what smoothing of edges mixes: no squares, no spots."""
    from PIL import Image

    path = pair().picture(tmp_path / "a.png", size=(400, 300))
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert image.shape == (300, 400, 3)
    ground = (np.abs(image - rgb(GROUND)) <= 1).all(axis=2)
    assert 0.4 < ground.mean() < 0.95
    # The lowest rows show nothing but the ground, all of one colour.
    assert (image[-8:] == image[-1, 0]).all()
    with pytest.raises(ds.InputError, match="size"):
        pair().picture(tmp_path / "b.png", size=(0, 300))


@pytest.mark.slow
def test_a_film_has_the_length_of_the_run(tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    world = pair()
    with ds.record(world, tmp_path / "a.h5"):
        world.run(0.5)
    done = []
    with ds.Recording(tmp_path / "a.h5") as recording:
        path = write_movie(
            recording, tmp_path / "a.mp4", fps=20, speed=0.5, size=(160, 96),
            progress=lambda k, total: done.append((k, total)),
        )  # fmt: skip
        with pytest.raises(ds.InputError, match="films are .mp4"):
            write_movie(recording, tmp_path / "a.txt")
    with imageio.get_reader(path) as film:
        told = film.get_meta_data()
        pictures = [frame for frame in film]
    assert len(pictures) == 20 and told["duration"] == pytest.approx(1.0, abs=0.06)
    assert pictures[0].shape == (96, 160, 3) and pictures[0].std() > 5
    assert done[-1] == (20, 20)


def test_between_two_frames_rotations_go_the_shorter_way():
    drawing = drawing_of_world(pair())
    a, b = drawing.pose[0].copy(), drawing.pose[0].copy()
    b[:, 3:] = (-1, 0, 0, 0)  # the same rotation
    b[:, 0] += 1.0
    both = drawing._replace(times=np.array([0.0, 1.0]), pose=np.stack([a, b]))
    middle = both.at(0.5)
    assert middle[:, 0] == pytest.approx(a[:, 0] + 0.5)
    assert np.abs(middle[:, 3]) == pytest.approx(1.0)

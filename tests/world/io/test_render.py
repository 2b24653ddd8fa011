"""Pictures and films: nothing but files is needed, and the scene is in them, whole."""

import numpy as np
import pytest

import drystone as ds

pytest.importorskip("pyvista", reason="pictures need pyvista: pip install 'drystone[render]'")
from drystone.world.export.drawing import GROUND, drawing_of_world, rgb
from drystone.world.io.framing import VIEW_ANGLE, frame_scene
from drystone.world.io.light import SUN
from drystone.world.io.movie import write_movie


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


def read(path):
    from PIL import Image

    return np.asarray(Image.open(path).convert("RGB")).astype(int)


@pytest.mark.slow
def test_light_is_even_on_open_ground_and_shadows_lie_where_the_sun_casts_them(tmp_path):
    image = read(pair().picture(tmp_path / "a.png", camera=(0, -1, 1), size=(400, 300)))
    assert image.shape == (300, 400, 3)
    # Shadow maps and ambient occlusion of VTK leave squares and spots.
    open_ground = image[-30:]
    assert np.ptp(open_ground, axis=(0, 1)).max() <= 6
    assert np.abs(np.diff(open_ground, axis=1)).max() <= 2
    assert np.abs(open_ground - rgb(GROUND)).max() <= 8
    # The sun is at the left: what lies at the right of a body is in its shadow, half as bright.
    sunny, shadow = image[150, 60:100].mean(), image[130:170, 118:150].min()
    assert shadow < 0.75 * sunny
    with pytest.raises(ds.InputError, match="size"):
        pair().picture(tmp_path / "b.png", size=(0, 300))


@pytest.mark.slow
def test_a_body_casts_its_shadow_on_another_and_turns_with_its_light(tmp_path):
    def crate(wall, turned=False):
        world = ds.World()
        world.add_fixed(ds.Plane())
        turn = (0.0, 0.0, 0.0, 1.0) if turned else (1.0, 0.0, 0.0, 0.0)
        world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5), orientation=turn)
        if wall:  # between the crate and the sun, below what the camera sees
            away = np.array(SUN[:2]) / np.linalg.norm(SUN[:2])
            world.add_body(ds.Sphere(3.0), position=(*(8.0 * away), 4.0))
        camera = ((0, -8, 2.0), (0, 0, 0.5))
        picture = world.picture(tmp_path / "a.png", camera=camera, size=(200, 150))
        return read(picture)[60:80, 90:110]

    lit, dark = crate(False).mean(), crate(True).mean()
    assert dark < 0.8 * lit
    # A crate that is turned by half a turn looks as it did: its normals turn too.
    assert crate(False, turned=True).mean() == pytest.approx(lit, abs=1.5)


@pytest.mark.slow
def test_contact_forces_are_seen_through_the_bodies(tmp_path):
    world = pair()
    world.run(0.1)
    plain = read(world.picture(tmp_path / "a.png", size=(300, 200)))
    image = read(world.picture(tmp_path / "b.png", size=(300, 200), forces=True))
    red = image[:, :, 0] - image[:, :, 2] > 60
    assert not (plain[:, :, 0] - plain[:, :, 2] > 60).any()
    assert red.sum() > 20


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


@pytest.mark.parametrize("name", [".", "/", "", "out.xbm", "out.pdf2", "out.wal", "folder/"])
def test_what_is_no_file_of_a_picture_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ds.InputError):
        pair().picture(name, size=(64, 64))


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"fps": 1e12}, "fps is"), ({"fps": 1e-9}, "fps is"), ({"fps": float("nan")}, "fps"),
        ({"speed": 1e-9}, "would have .* pictures"), ({"speed": 1e-320}, "would have inf pictures"),
    ],
)  # fmt: skip
def test_films_without_an_end_are_refused(tmp_path, given, sentence):
    world = ds.World()
    world.add_body(ds.Sphere(1))
    with ds.record(world, tmp_path / "r.h5", every=1):
        world.run(0.05)
    with ds.Recording(tmp_path / "r.h5") as recording:
        with pytest.raises(ds.InputError, match=sentence):
            write_movie(recording, tmp_path / "out.mp4", **given)


def test_between_two_frames_rotations_go_the_shorter_way():
    drawing = drawing_of_world(pair())
    a, b = drawing.pose[0].copy(), drawing.pose[0].copy()
    b[:, 3:] = (-1, 0, 0, 0)  # the same rotation
    b[:, 0] += 1.0
    both = drawing._replace(times=np.array([0.0, 1.0]), pose=np.stack([a, b]))
    middle = both.at(0.5)
    assert middle[:, 0] == pytest.approx(a[:, 0] + 0.5)
    assert np.abs(middle[:, 3]) == pytest.approx(1.0)

"""The viewer in headless Chromium: it moves, stands, is dragged, struck and scrubbed; and its door.

Screenshots are kept in the folder that DRYSTONE_ARTEFACTS names, else among pytest's own files.
"""

import http.client
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

import drystone as ds

pytest.importorskip("viser", reason="the viewer needs viser: pip install 'drystone[view]'")
from browser import CHROMIUM, Browser, wait_until
from drystone.model.rotation import matrix_from_quaternion
from drystone.world.export.drawing import drawing_of_world
from drystone.world.view.replay_viewer import ReplayViewer
from drystone.world.view.sender import Sender
from drystone.world.view.server import Guard, start_server
from drystone.world.view.stage import Stage
from drystone.world.view.viewer import Viewer

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed here")


def stack(count=4, dt=1 / 120):
    world = ds.World(dt=dt)
    world.add_fixed(ds.Plane())
    for k in range(count):
        world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5 + 1.05 * k), name=f"box {k}")
    return world


@pytest.fixture
def pictures(tmp_path):
    folder = Path(os.environ.get("DRYSTONE_ARTEFACTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def click(browser, label):
    """On the button, box or folder of that name, by the mouse."""
    x, y = browser.wait(
        f"""(() => {{
          const all = document.querySelectorAll('button, label, .mantine-Paper-root');
          const found = [...all].findLast(
            (b) => b.innerText.trim() === {label!r} && b.getBoundingClientRect().width);
          if (!found) return null;
          found.scrollIntoView({{block: 'center'}});
          const box = found.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()"""
    )
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseReleased", x, y)


def click_until(browser, label, condition):
    """A page that is still being laid out may lose a click."""
    for _ in range(6):
        click(browser, label)
        try:
            return wait_until(condition, 10.0)
        except AssertionError:
            continue
    raise AssertionError(f"clicks on {label} did nothing")


def on_screen(viewer, point):
    """The pixel at which the page shows `point`."""
    client = next(iter(viewer._server.get_clients().values()))
    camera = client.camera
    size = (camera.image_width, camera.image_height)
    axes = matrix_from_quaternion(camera.wxyz)
    x, y, z = axes.T @ (viewer._stage.to_page(point) - np.array(camera.position))
    scale = size[1] / 2 / np.tan(camera.fov / 2)
    return size[0] / 2 + scale * x / z, size[1] / 2 + scale * y / z


@needs_browser
@pytest.mark.slow
def test_bodies_move_stand_are_dragged_and_struck(pictures):
    viewer = stack().view(port=0, block=False)
    try:
        with Browser() as browser:
            browser.open(viewer.url)
            wait_until(lambda: viewer._server.get_clients())
            browser.wait("document.querySelectorAll('canvas').length > 0")
            click_until(browser, "Play", lambda: viewer.playing)
            wait_until(lambda: viewer.world.time > 0.3)
            click_until(browser, "Pause", lambda: not viewer.playing)
            stands = viewer.do(lambda world: world.time)
            assert viewer.do(lambda world: world.time) == stands
            click(browser, "Step")
            wait_until(lambda: viewer.do(lambda world: world.step_count) > stands * 120 + 0.5)
            sent = viewer.statistics["frames"]
            assert sent > 3
            browser.picture(pictures / "1-stands.png")

            viewer._panel._toggles["forces"].value = True
            viewer._panel._toggles["points"].value = True
            viewer._ask(viewer._panel._retoggle)
            wait_until(lambda: "forces" in viewer._overlays._nodes)
            browser.wait("new Promise((done) => setTimeout(() => done(true), 1500))")
            browser.picture(pictures / "2-forces.png")

            _drag_by_mouse(viewer, browser, pictures)
            _throw_by_mouse(viewer, browser, pictures)
    finally:
        viewer.stop()


def _drag_by_mouse(viewer, browser, pictures):
    """The uppermost box, to the left."""
    start = viewer.do(lambda world: world["box 3"].position)
    viewer.play()
    x, y = on_screen(viewer, start)
    browser.mouse("mouseMoved", x, y)
    browser.mouse("mousePressed", x, y)
    for k in range(1, 9):
        browser.mouse("mouseMoved", x - 20 * k, y - 4 * k)
    wait_until(lambda: viewer.pointer.dragging is not None)
    wait_until(
        lambda: np.linalg.norm(viewer.do(lambda world: world["box 3"].position) - start) > 0.5
    )
    browser.wait("new Promise((done) => setTimeout(() => done(true), 1500))")
    browser.picture(pictures / "3-dragged.png")
    browser.mouse("mouseReleased", x - 160, y - 32)
    wait_until(lambda: viewer.pointer.dragging is None)


def _throw_by_mouse(viewer, browser, pictures):
    """A ball along the ray through a box: the stack is struck."""
    viewer.reset()
    viewer.play()
    wait_until(lambda: viewer.do(lambda world: world.time) > 0.3)
    viewer._panel._throw.value = True
    viewer._panel.throw_speed.value = 40.0
    x, y = on_screen(viewer, viewer.do(lambda world: world["box 1"].position))
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseReleased", x, y)
    wait_until(lambda: viewer.do(len) == 5)
    # Which box goes where depends on where the ball meets them.
    wait_until(
        lambda: viewer.do(
            lambda world: any(np.hypot(*world[f"box {k}"].position[:2]) > 0.3 for k in range(4))
        )
    )
    browser.picture(pictures / "4-struck.png")


def hinged():
    """Two bodies on a hinge that swing, and one that slides."""
    world = stack(2)
    a = world.add_body(ds.Capsule(0.2, 1.0), position=(2.5, 0, 2), name="post")
    b = world.add_body(ds.Sphere(0.4), position=(3.3, 0, 2), name="bob")
    world.add_joint(ds.Hinge(a, None, point=(2.5, 0, 2.7), axis=(0, 1, 0)))
    world.add_joint(ds.Ball(a, b, point=(2.9, 0, 2)))
    world.add_body(ds.Box(1, 1, 0.5), position=(-3, 0, 0.25), velocity=(4, 0, 0), name="slider")
    world.run(0.1)
    return world


@needs_browser
@pytest.mark.slow
def test_folders_open_and_every_toggle_shows_its_part(pictures):
    viewer = hinged().view(port=0, block=False)
    panel, nodes = viewer._panel, lambda: viewer._overlays._nodes
    try:
        with Browser() as browser:
            browser.open(viewer.url)
            wait_until(lambda: viewer._server.get_clients())
            browser.wait("document.querySelectorAll('canvas').length > 0")

            def opened(folder, inside):
                found = f"document.body.innerText.includes({inside!r})"
                click_until(browser, folder, lambda: browser.run(found))

            opened("Show", "contact normals")
            for name in ("points", "normals", "forces", "boxes", "joints"):
                panel._toggles[name].value = True
                wait_until(lambda name=name: name in nodes())
            colour = np.array(viewer._stage.batches[0][0].batched_colors)
            panel._toggles["islands"].value = True
            wait_until(
                lambda: (np.asarray(viewer._stage.batches[0][0].batched_colors) != colour).any()
            )
            browser.picture(pictures / "7-everything.png")
            for name in panel._toggles:
                panel._toggles[name].value = False
            wait_until(lambda: not nodes())
            viewer.play()
            wait_until(lambda: len(viewer.history) > 3)
            opened("Plots", "time per stage")
            browser.picture(pictures / "8-plots.png")
            for folder, inside in (
                ("Hands", "a click throws a ball"),
                ("Build", "Weld the two picked"),
                ("Physics", "friction of all"),
                ("File", "Record from here"),
            ):
                opened(folder, inside)
    finally:
        viewer.stop()


@needs_browser
@pytest.mark.slow
def test_the_gallery_draws_scenes_and_opens_one(pictures):
    scenes = {
        "three boxes": ("Three boxes, one on the other", lambda: stack(3), (-0.6, -1.0, 0.45)),
        "hinged <b>": ("A hinge & a slider", hinged, (0.0, -1.0, 0.2)),
    }
    viewer = Viewer(stack(4), 0, gallery=scenes)
    try:
        with Browser() as browser:
            browser.open(f"{viewer.url}/gallery")
            browser.wait("document.querySelectorAll('article').length === 2")
            browser.wait(
                "[...document.querySelectorAll('iframe')].filter((frame) => "
                "frame.contentWindow.drystone && frame.contentWindow.drystone.drawn).length === 2"
            )
            browser.picture(pictures / "9-gallery.png")
            browser.run("document.querySelectorAll('a.open')[1].click()")
            wait_until(lambda: viewer.do(len) == 5)
            browser.wait("location.pathname === '/'")
            browser.run("document.title")
        site = {"Sec-Fetch-Site": "cross-site"}
        assert ask(f"{viewer.url}/gallery/three%20boxes/open", **site) == 404
        assert ask(f"{viewer.url}/gallery/nothing") == 404
        assert ask(f"{viewer.url}/gallery", Host="evil.example") == 403
        assert viewer.do(len) == 5
    finally:
        viewer.stop()


@needs_browser
@pytest.mark.slow
def test_a_recording_plays_and_scrubbing_jumps(tmp_path, pictures):
    world = stack(2)
    world.throw((-4, 0, 1), (1, 0, 0.1), speed=8)
    with ds.record(world, tmp_path / "a.h5", every=2):
        world.run(1.0)
    with ds.Recording(tmp_path / "a.h5") as recording:
        viewer = ReplayViewer(recording, port=0)
        try:
            with Browser() as browser:
                browser.open(viewer.url)
                wait_until(lambda: viewer._server.get_clients())
                click_until(browser, "Play", lambda: viewer.playing or viewer.frame > 2)
                wait_until(lambda: viewer.frame > 2)
                viewer.pause()
                viewer.seek(50)
                wait_until(lambda: viewer.frame == 50)
                wait_until(lambda: "frame 50" in viewer._clock.content)
                shown = viewer._stage.from_page(viewer._stage.batches[0][0].batched_positions)
                assert shown[0] == pytest.approx(recording.positions(50)[0], abs=1e-5)
                viewer._loop.ask(lambda: setattr(viewer, "_picked", 2))
                wait_until(lambda: "thrown" in viewer._about.content)
                speed = float(viewer._about.content.split(", ")[-1].split()[0])
                assert 0.1 < speed < 9.0 and " kg" in viewer._about.content
                browser.picture(pictures / "5-scrubbed.png")
        finally:
            viewer.stop()


@needs_browser
@pytest.mark.slow
def test_an_exported_page_plays_with_the_network_off(tmp_path, pictures):
    world = stack(3)
    with ds.record(world, tmp_path / "a.h5", every=4):
        world.throw((-4, 0, 1), (1, 0, 0.1), speed=12)
        world.run(0.8)
    with ds.Recording(tmp_path / "a.h5") as recording:
        path = recording.export(tmp_path / "a.html")
        last = recording.positions(len(recording) - 1)
    with Browser() as browser:
        browser._send("Network.enable")
        browser._send(
            "Network.emulateNetworkConditions", offline=True, latency=0,
            downloadThroughput=0, uploadThroughput=0,
        )  # fmt: skip
        browser.open(path.as_uri())
        browser.wait("window.drystone && drystone.ready && drystone.drawn > 1")
        first = browser.run("drystone.poses(3)")
        browser.run("drystone.play()")
        browser.wait("drystone.frame > 4")
        assert browser.run("drystone.poses(3)") != first
        browser.run("drystone.play(false); drystone.seek(100)")
        browser.wait(f"drystone.frame === {len(recording.times) - 1}")
        got = np.array([browser.run(f"drystone.poses({k})")[:3] for k in range(4)])
        # Relative to the centre of the scene, in single precision.
        assert got - got[0] == pytest.approx(last - last[0], abs=1e-5)
        browser.picture(pictures / "6-page.png")


# The door


def ask(url, **headers):
    """Status of a request for the page."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        path = f"{place.path or '/'}?{place.query}" if place.query else place.path or "/"
        connection.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_request_that_names_another_host_or_comes_from_another_page_is_refused():
    server, url = start_server("127.0.0.1", 0, None, "test")
    try:
        place = urlsplit(url).netloc
        assert server.get_host() == "127.0.0.1"
        assert ask(url) == 200
        assert ask(url, Host="evil.example") == 403
        assert ask(url, Origin="http://evil.example") == 403
        assert ask(url, Origin=f"http://{place}") == 200
    finally:
        server.stop()


def test_a_wrong_token_is_refused_and_a_right_one_is_kept_as_a_cookie():
    server, url = start_server("127.0.0.1", 0, "correct-horse", "test")
    try:
        bare = url.partition("/?")[0]
        assert ask(url) == 200
        assert ask(bare) == 403
        assert ask(f"{bare}/?token=wrong-horse") == 403
        assert ask(bare, Cookie="drystone_token=correct-horse") == 200
        assert ask(bare, Cookie="drystone_token=wrong") == 403
    finally:
        server.stop()


def test_nothing_is_handed_to_the_relay_of_viser(monkeypatch):
    from viser import _tunnel

    made = []
    monkeypatch.setattr(_tunnel, "ViserTunnel", lambda *given: made.append(given))
    server, _ = start_server("127.0.0.1", 0, None, "test")
    try:
        server.request_share_url()
        assert not made
    finally:
        server.stop()


def test_other_addresses_need_a_token():
    with pytest.raises(ds.InputError, match="which others can reach: give a token"):
        start_server("0.0.0.0", 0, None, "test")
    with pytest.raises(ds.InputError, match="token has 3 characters"):
        start_server("0.0.0.0", 0, "abc", "test")
    guard = Guard("0.0.0.0", "correct-horse")
    request = SimpleNamespace(headers={"Host": "10.0.0.7:8080"}, path="/?token=correct-horse")
    assert not guard.refuse(request)


def test_malformed_messages_do_not_stop_the_simulation():
    import viser
    from websockets.sync.client import connect

    spoken = [f"viser-v{viser.__version__}"]
    viewer = stack(2).view(port=0, block=False, play=True)
    try:
        address = viewer.url.replace("http", "ws")
        for garbage in (b"\x00\xff garbage", b"", "text", b"\x81\xa4type\xa4Nope"):
            with connect(address, subprotocols=spoken, open_timeout=60, proxy=None) as socket:
                socket.send(garbage)
        before = viewer.do(lambda world: world.time)
        wait_until(lambda: viewer.do(lambda world: world.time) > before)
        viewer._ask(lambda: 1 / 0)  # and neither does a mistake of our own
        wait_until(lambda: "ZeroDivisionError" in viewer._panel._said)
        before = viewer.do(lambda world: world.time)
        wait_until(lambda: viewer.do(lambda world: world.time) > before)
        assert viewer.playing
    finally:
        viewer.stop()
    assert threading.active_count() < 50


def test_nobody_connected_costs_next_to_nothing():
    """Seconds of the loop itself, not of the clock of the wall: what it spends on showing."""
    viewer = stack(4).view(port=0, block=False, play=True)
    try:
        wait_until(lambda: viewer.statistics["step_s"] > 0.05)
        spent = viewer.statistics
        assert spent["view_s"] < 0.1 * spent["step_s"] and spent["frames"] == 0
    finally:
        viewer.stop()


@pytest.mark.parametrize("speed, dt", ((0.1, 1 / 60), (0.25, 0.05), (1.0, 1 / 240)))
def test_a_slow_motion_of_long_steps_moves_too(speed, dt):
    viewer = stack(1, dt).view(port=0, block=False)
    try:
        viewer._set_speed(speed)
        viewer.play()
        wait_until(lambda: viewer.do(lambda world: world.step_count) > 1)
    finally:
        viewer.stop()


def test_between_two_steps_that_take_long_what_is_shown_goes_evenly():
    shown = []
    sender = Sender(lambda: True, lambda pose: shown.append(pose[0, 0]))
    start, end = np.zeros((1, 7)), np.zeros((1, 7))
    start[0, 3] = end[0, 3] = 1.0
    end[0, 0] = 1.0
    sender.start()
    try:
        sender.give(start, True)
        wait_until(lambda: shown)
        sender._since -= 0.5  # as if the step had taken half a second
        sender.give(end, True)
        wait_until(lambda: shown[-1] == 1.0)
    finally:
        sender.stop()
    assert shown == sorted(shown) and len(shown) > 4
    assert any(0.0 < x < 1.0 for x in shown)


def test_what_stands_is_not_sent_again():
    server, _ = start_server("127.0.0.1", 0, None, "test")
    try:
        stage = Stage(server, drawing_of_world(hinged()))
        pose = stage.drawing.pose[0].copy()
        before = [np.array(handle.batched_positions) for handle, _ in stage.batches]
        pose[:, 0] += 1e-9
        stage.move(pose)
        after = [np.array(handle.batched_positions) for handle, _ in stage.batches]
        assert all((a == b).all() for a, b in zip(before, after, strict=True))
        pose[0, 0] += 0.1
        stage.move(pose)
        moved = [
            (np.array(handle.batched_positions) != b).any()
            for (handle, _), b in zip(stage.batches, before, strict=True)
        ]
        assert sum(moved) == 1
    finally:
        server.stop()


def test_build_switch_save_and_reset_through_the_panel(tmp_path):
    world = stack(2)
    viewer = world.view(port=0, block=False)
    panel = viewer._panel
    try:
        viewer.do(lambda w: panel._add(ds.Sphere(0.3), (0, 0, 4)))
        assert viewer.do(len) == 3
        viewer.do(lambda w: (viewer.pointer.pick(0), viewer.pointer.pick(1)))
        viewer.do(lambda w: panel._join(ds.Hinge))
        assert viewer.do(lambda w: len(w.joints)) == 1
        viewer.do(lambda w: panel._set_friction(0.25))
        assert viewer.do(lambda w: {thing.material.friction for thing in (*w, *w.fixed)}) == {0.25}
        viewer.do(lambda w: panel._set("solver", "nsgs"))
        viewer.step()
        viewer.do(lambda w: panel._save(str(tmp_path / "a.h5")))
        assert len(ds.World.load(tmp_path / "a.h5")) == 3
        viewer.do(lambda w: panel._remove())
        assert viewer.do(len) == 2
        viewer.reset()
        assert viewer.do(len) == 2 and viewer.world.time == 0.0 and not viewer.world.joints
    finally:
        viewer.stop()


def test_a_body_that_comes_is_added_beside_what_is_shown():
    """Nothing else is sent again, for it would flicker; and the camera's frame stays."""
    viewer = stack(2).view(port=0, block=False)
    try:
        before = viewer._stage
        viewer.do(lambda world: world.add_body(ds.Sphere(0.3), position=(30, 0, 4)))
        wait_until(lambda: len(viewer._stage.batches) == 2 or viewer._show() or False)
        assert viewer._stage.batches[0][0] is before.batches[0][0]
        assert len(viewer._stage.fresh) == 1 and viewer._stage._fixed is before._fixed
        assert viewer._stage.unit == before.unit
    finally:
        viewer.stop()


def test_what_is_far_large_or_small_is_shown_about_its_own_centre():
    """Page coordinates: poses on a real map lose nothing in single precision."""
    server, _ = start_server("127.0.0.1", 0, None, "test")
    try:
        for size in (1e-3, 1.0, 1e3):
            world = ds.World()
            middle = np.array((2.6e6, 1.2e6, 500.0))
            for k in range(3):
                place = middle + size * np.array((0.0, 1.5 * k, 0.0))
                world.add_body(ds.Box(size, size, size), position=tuple(place))
            stage = Stage(server, drawing_of_world(world))
            shown = stage.from_page(stage.batches[0][0].batched_positions)
            assert shown == pytest.approx(world.positions, abs=1e-6 * size + 1e-9)
            assert np.linalg.norm(stage.batches[0][0].batched_positions, axis=1).max() < 2.5
    finally:
        server.stop()


def test_the_panel_shows_what_holds_in_the_world_that_was_loaded():
    def other():
        world = stack(1)
        world.solver, world.tolerance, world.gravity = "nsgs", 3e-5, (0.0, 0.0, -1.6)
        world["box 0"].material = ds.Material(density=500, friction=0.9)
        return world

    scenes = {"first": ("One", stack, (0, -1, 0.4)), "second": ("Two", other, (0, -1, 0.4))}
    viewer = Viewer(stack(3), 0, gallery=scenes)
    panel = viewer._panel
    try:
        assert panel._solver.value == "auto" and panel._gravity.value == pytest.approx(-9.81)
        viewer.do(lambda world: viewer._load("second"))
        assert (panel._solver.value, panel._tolerance.value) == ("nsgs", "3e-05")
        assert panel._gravity.value == pytest.approx(-1.6) and panel._scene.value == "second"
        assert viewer.do(lambda world: world.tolerance) == 3e-5
        assert viewer.do(lambda world: {t.material.friction for t in (*world, *world.fixed)}) == {
            0.9, 0.5,
        }  # fmt: skip
    finally:
        viewer.stop()

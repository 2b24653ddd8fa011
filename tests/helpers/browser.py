"""Headless Chromium, driven over the DevTools protocol; for tests of pages."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--window-size=1100,700", "--remote-debugging-port=0", "--hide-scrollbars",
)  # fmt: skip
# A step of the browser may take so long on a machine that does other things too [s].
PATIENCE = 120.0


class Browser:
    """One page. Use it in a `with`."""

    def __init__(self, *more: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, *more, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        from websockets.sync.client import connect

        told = Path(self._folder.name) / "DevToolsActivePort"
        wait_until(lambda: told.exists() and len(told.read_text().split()) == 2)
        port, path = told.read_text().split()
        self._socket = connect(
            f"ws://127.0.0.1:{port}{path}", max_size=None, open_timeout=PATIENCE, proxy=None
        )
        self._number, self._session = 0, None
        made = self._send("Target.createTarget", url="about:blank")
        attached = self._send("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self._send("Page.enable")
        self._send("Runtime.enable")

    def _send(self, method: str, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        end = time.monotonic() + PATIENCE
        while True:
            answer = json.loads(self._socket.recv(timeout=max(0.1, end - time.monotonic())))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def open(self, url: str) -> None:
        self._send("Page.navigate", url=url)

    def run(self, script: str):
        """The value of a JavaScript expression; promises are awaited."""
        found = self._send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str):
        """Until the expression is true."""
        return wait_until(lambda: self.run(script))

    def picture(self, path: Path) -> Path:
        taken = self._send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(taken["data"]))
        return path

    def mouse(self, kind: str, x: float, y: float, button: str = "left") -> None:
        """`kind` is mousePressed, mouseMoved or mouseReleased."""
        down = kind != "mouseReleased"
        self._send(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1,
            buttons=1 if down else 0, pointerType="mouse",
        )  # fmt: skip

    def close(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        self._folder.cleanup()

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def wait_until(condition, seconds: float = PATIENCE):
    """The first true value of `condition()`; fails after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.1)

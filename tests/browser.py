"""A real browser without a window, spoken to through two pipes by the DevTools protocol, for tests of pages."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_PATIENCE = 120.0


class Browser:
    """Chromium with a single tab; records all faults and all requests to a network."""

    def __init__(self, profile: pathlib.Path, size: tuple[int, int] = (1400, 900)) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        assert PROGRAM is not None
        flags = ["headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run", "remote-debugging-pipe"]
        command = [PROGRAM, *(f"--{flag}" for flag in flags), f"--user-data-dir={profile}", "about:blank"]
        # The protocol wants its pipes to be the file descriptors 3 and 4.
        shell = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *command]
        self._process = subprocess.Popen(
            shell, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self._pending = b""
        self._count = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        """Errors and warnings on the console, uncaught exceptions, and refusals of the page's policy."""
        self.requests: list[str] = []
        """The requested addresses, with the page included."""
        self._attach(size)

    def _attach(self, size: tuple[int, int]) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        tab = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def call(self, method: str, **params: Any) -> Any:
        """The answer to a call of the protocol."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._in, 1 << 20) if ready else b""
            assert data, "the browser is gone" if ready else f"the browser did not answer within {_PATIENCE:g} s"
            self._pending += data
        message, _, self._pending = self._pending.partition(b"\0")
        document: dict[str, Any] = json.loads(message)
        return document

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])

    def open(self, path: pathlib.Path) -> float:
        """Open a file; the seconds until the page had shown itself."""
        start = time.monotonic()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return time.monotonic() - start

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page; of a promise, the resolved value."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key; a single letter is typed."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text: str) -> None:
        """Type text as a keyboard does."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """A click into the middle of the first element that a selector finds."""
        text = f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
        x, y = self.evaluate(f"{text} return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def emulate(self, scheme: str) -> None:
        """`light` or `dark`, as the system prefers."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        self._session = None
        self.call("Browser.close")
        self._process.wait(timeout=_PATIENCE)
        os.close(self._in)
        os.close(self._out)

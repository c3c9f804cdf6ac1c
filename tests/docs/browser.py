"""A headless Chromium driven through its debugging pipe: what a page asks for, says, and looks like."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

EXECUTABLE = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# Chromium reads commands on descriptor 3 and answers on 4.
LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page in a fresh browser; events are kept as they come."""

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        assert EXECUTABLE is not None
        self._folder = tempfile.mkdtemp(prefix="dpest-browser-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={self._folder}", f"--window-size={width},{height}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_read), str(to_write), EXECUTABLE, *flags],
            pass_fds=(to_read, to_write),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._stream = os.fdopen(self._read, "rb")
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        self._attach()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        self._stream.close()
        os.close(self._write)
        shutil.rmtree(self._folder, ignore_errors=True)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its answer; events that come in between are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        found: dict[str, Any] = answer["result"]
        return found

    def open(self, path: Path) -> None:
        """Load a file from disk and wait until it is drawn."""
        self.send("Page.navigate", url=path.resolve().as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._receive())

    def look(self, width: int, scheme: str, height: int = 1000) -> None:
        """A window of that width, in light or dark colours."""
        mobile = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def requests(self) -> list[str]:
        """Every address that the page asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Everything that the page said on the console, threw, or that the browser refused."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(e["params"]) for e in self.events if e.get("method") in kinds]

    def screenshot(self, path: Path, selector: str = "html", height: int | None = None) -> None:
        """The whole page, or one element of it, or the top of it, as PNG."""
        rectangle = "(e => { const r = e.getBoundingClientRect(); return [r.x, r.y + scrollY, r.width, r.height] })"
        box = self.evaluate(f"{rectangle}(document.querySelector({json.dumps(selector)}))")
        clip = {"x": box[0], "y": box[1], "width": box[2], "height": height or box[3], "scale": 1}
        data = self.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def _attach(self) -> None:
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def _receive(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._stream.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("the browser ended before it answered")
            text += byte
        message: dict[str, Any] = json.loads(text.decode())
        return message

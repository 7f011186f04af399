"""browser -- a headless Chromium, driven by its DevTools over a pipe: opens a page, runs scripts in it, presses keys and the mouse, takes pictures"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_S = 60
_CODES = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
SHIFT, CTRL = 8, 2


class BrowserError(Exception):
    """The browser, or a script in the page, says so."""


def find_browser() -> str | None:
    """The browser's path, if there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page. Messages of its console are collected in `complaints`: errors, warnings, and what its security policy refused."""

    def __init__(self, profile: Path, width: int = 1400, height: int = 900) -> None:
        self.complaints: list[str] = []
        self._number = 0
        self._buffer = b""
        self._events: list[dict[str, Any]] = []
        read_commands, self._write = os.pipe()
        self._read, write_answers = os.pipe()

        def give_pipes() -> None:
            first, second = os.dup(read_commands), os.dup(write_answers)
            os.dup2(first, 3)
            os.dup2(second, 4)

        command = [
            str(find_browser()), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            "--remote-debugging-pipe", f"--window-size={width},{height}", f"--user-data-dir={profile}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(command, preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        target = next(one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def open(self, path: Path, fragment: str = "") -> float:
        """Open a page of a file; how many seconds it took until it showed its views."""
        start = time.monotonic()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait_for("document.readyState == 'complete' && (window.collectorPage || document.querySelector('.failure')) && true")
        self.settle()
        return time.monotonic() - start

    def run(self, script: str) -> Any:
        """The value of an expression, or of the promise that it gives."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def settle(self) -> None:
        """Until two frames were shown: so whatever was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def wait_for(self, condition: str, here: Callable[[], bool] = lambda: True) -> None:
        """Until an expression is true in the page, and so is what is asked here."""
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                if self.run(condition) and here():
                    return
            except BrowserError:  # between two documents
                pass
            if time.monotonic() > end:
                raise BrowserError(f"not within {_PATIENCE_S} s: {condition}")
            time.sleep(0.02)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key: a character, or a name as `Enter`."""
        text = "\r" if key == "Enter" else key if len(key) == 1 and not modifiers & CTRL else ""
        for kind in ("keyDown", "keyUp"):
            code = _CODES.get(key, ord(key.upper()) if key.isalnum() and len(key) == 1 else 0)
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers, text=text if kind == "keyDown" else "", windowsVirtualKeyCode=code)
        self.settle()

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """From one place to another with the left button."""
        self._mouse("mousePressed", start)
        self._mouse("mouseMoved", ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
        self._mouse("mouseMoved", end)
        self._mouse("mouseReleased", end)
        self.settle()

    def click(self, place: tuple[float, float], count: int = 1, modifiers: int = 0) -> None:
        """Click at a place."""
        for number in range(1, count + 1):
            self._mouse("mousePressed", place, number, modifiers)
            self._mouse("mouseReleased", place, number, modifiers)
        self.settle()

    def middle(self, selector: str) -> tuple[float, float]:
        """Of the first element that a selector finds."""
        box = self.run(f"(({{left, top, width, height}}) => [left + width / 2, top + height / 2])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        return box[0], box[1]

    def click_on(self, selector: str) -> None:
        """Click on the first element that a selector finds."""
        self.click(self.middle(selector))

    def move(self, *places: tuple[float, float]) -> None:
        """Move the pointer from place to place; the page has handled each."""
        for place in places:
            self._mouse("mouseMoved", place)
        self.settle()

    def picture(self, path: Path) -> None:
        """What is seen, as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def call(self, method: str, **parameters: Any) -> Any:
        """One command of the DevTools protocol for this page."""
        return self._call(method, session=self._session, **parameters)

    def _mouse(self, kind: str, place: tuple[float, float], count: int = 1, modifiers: int = 0) -> None:
        is_moved = kind == "mouseMoved"
        self.call(
            "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="none" if is_moved else "left", clickCount=0 if is_moved else count,
            modifiers=modifiers,
        )  # fmt: skip

    def _call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        details = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            thrown = details["exceptionDetails"]
            self.complaints.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif event.get("method") == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.complaints.append(details["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent" and not details["request"]["url"].startswith(("file:", "about:", "data:", "blob:")):
            self.complaints.append(f"asks for {details['request']['url']}")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], _PATIENCE_S)[0]:
                raise BrowserError("the browser does not answer")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise BrowserError("the browser has gone")
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

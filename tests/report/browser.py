"""A headless Chromium, driven through chromedriver's WebDriver protocol with the standard library alone."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}


class Browser:
    """One session; the page is driven with its own script or with real key presses."""

    def __init__(self, base: str, session: str) -> None:
        self.base = f"{base}/session/{session}"

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return request(f"{self.base}{path}", method, body)

    def open(self, file: Path, fragment: str = "") -> None:
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": file.as_uri() + fragment})

    def run(self, script: str) -> Any:
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def press(self, *keys: str) -> None:
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def wait(self, condition: str, seconds: float = 5) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            value = self.run(f"return {condition}")
            if value:
                return value
            assert time.monotonic() < deadline, condition
            time.sleep(0.05)

    def console(self) -> list[str]:
        log = self.call("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']} {entry['message']}" for entry in log]

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))


def request(url: str, method: str, body: dict[str, Any] | None) -> Any:
    data = json.dumps(body or {}).encode() if method == "POST" else None
    sent = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sent, timeout=60) as answer:
        return json.load(answer)["value"]


@contextmanager
def browser(profile: Path, width: int = 1280, height: int = 1000, dark: bool = False) -> Iterator[Browser]:
    assert DRIVER is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                if request(f"{base}/status", "GET", None)["ready"]:
                    break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            *(["--force-dark-mode"] if dark else []),
        ]
        options = {"binary": CHROMIUM, "args": arguments}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = request(f"{base}/session", "POST", {"capabilities": {"alwaysMatch": wanted}})
        opened = Browser(base, session["sessionId"])
        try:
            yield opened
        finally:
            opened.call("DELETE", "")
    finally:
        driver.terminate()
        driver.wait(10)

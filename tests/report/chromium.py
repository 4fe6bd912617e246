"""A headless Chromium for tests of what a page does; no driver is ever downloaded and no request leaves."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.report.reader import Reader

_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--window-size=1280,900"),
)


def missing() -> str | None:
    """Why there is no browser to test in; None where there is one."""
    if importlib.util.find_spec("selenium") is None:
        return "selenium is not installed"
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not found" if absent else None


@contextmanager
def opened(profile: Path) -> Iterator[Any]:
    """A Chromium with a fresh profile in `profile`; its console and its network requests are logged."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in (*_OPTIONS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # With the driver's path given, selenium looks for none and asks no one.
    driver = Chrome(options=options, service=ChromeService(executable_path=shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Chromium for the tests of a module; skips where it or its driver is not installed."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with opened(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def reader(chromium: Any) -> Iterator[Reader]:
    """A reader; whatever a test did, the page has written nothing to the console and asked for nothing."""
    chromium.get("about:blank")
    chromium.get_log("browser"), chromium.get_log("performance")
    yield Reader(chromium)
    assert chromium.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert all(address.startswith(("file:", "about:", "data:")) for address in asked), asked
    assert not chromium.execute_script("return window.hacked")

"""A reader of a report: opens it in a browser, clicks, chooses, presses keys, and says what is to be seen."""

from __future__ import annotations

import json
from typing import Any

DESKTOP = (1280, 900)
PHONE = (390, 844)


class Reader:
    """What a reader does with the report."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str, size: tuple[int, int] = DESKTOP, scheme: str = "light") -> None:
        self.driver.get("about:blank")
        self.resize(size)
        self.prefer(scheme)
        self.driver.get(address)
        self.wait("!document.getElementById('browser').hidden")

    def resize(self, size: tuple[int, int]) -> None:
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme: str, medium: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})

    def wait(self, condition: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 20, 0.02).until(lambda driver: driver.execute_script(f"return Boolean({condition})"))

    def js(self, expression: str) -> Any:
        return self.driver.execute_script(f"return {expression}")

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def press(self, key: str) -> None:
        self.driver.switch_to.active_element.send_keys(key)

    def text(self, selector: str) -> str:
        """The visible text of an element, brought into view: what is far away is not laid out."""
        done = "arguments[arguments.length - 1]"
        element = f"document.querySelector({json.dumps(selector)})"
        show = f"const [e, done] = [{element}, {done}]; e.scrollIntoView({{ block: 'nearest' }});"
        twice = "requestAnimationFrame(() => requestAnimationFrame(() => done(e.innerText)))"
        return str(self.driver.execute_async_script(f"{show} {twice}"))

    def texts(self, selector: str) -> list[str]:
        return list(self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText.trim())"))

    def choose(self, name: str, shown: str) -> None:
        from selenium.webdriver.support.ui import Select

        Select(self.driver.find_element("css selector", f"#filters [name={name}]")).select_by_visible_text(shown)

    def run_keys(self) -> list[str]:
        return self.texts("#runs .run-key")

    def open_run(self, key: str) -> None:
        """Opens a run of the list."""
        place = self.run_keys().index(key)
        self.click(f"#runs li:nth-child({place + 1}) .run")
        self.wait("document.querySelector('#run[open] .facts')")

    def unnamed_controls(self) -> Any:
        """The HTML of what can be operated but says neither in text nor in a label what it is."""
        return self.js(
            """[...document.querySelectorAll('button, select, input, a[href]')].filter((e) =>
            !(e.getAttribute('aria-label') || e.textContent.trim() && e.tagName !== 'SELECT' || e.labels?.length))
            .map((e) => e.outerHTML)"""
        )

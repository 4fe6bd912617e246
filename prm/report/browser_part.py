"""The trajectory browser as a part of a page."""

from __future__ import annotations

from prm.report.browser import BrowserData
from prm.report.page import Part, asset, rendered

_SCRIPTS = ("browser_dom.js", "browser_runs.js", "browser_list.js", "browser_run.js", "browser.js", "browser_start.js")
"""In the order in which they need each other; together they are one module."""

_TEXT = (
    "Every run, with what the agent did and what gold and the judges say of each step. A judge's first error is right"
    " when it accuses first the step that gold accuses first, or accuses no step of a run without errors. Steps are"
    " disputed where judges differ. In an opened run, j and k go to the next and the previous one, Escape closes it."
)


def browser_part(data: BrowserData) -> Part:
    """The browser of `data`, with its style and its script."""
    return Part(
        id="trajectories",
        title="Trajectory browser",
        text=_TEXT + _left_out(data.left_out),
        body=rendered(asset("browser.html.jinja"), data=data),
        style=asset("browser.css"),
        script="\n".join(asset(name) for name in _SCRIPTS),
    )


def _left_out(count: int) -> str:
    return f"\n\n{count:,} further runs are measured above but too many to be shown here." if count else ""

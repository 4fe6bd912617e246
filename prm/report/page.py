"""Sections, and parts with a behaviour of their own, as one HTML page that asks nobody for anything.

The page's policy forbids every request, and every script but those written here. All text is escaped; only figures
(drawn here) and the bodies of parts are taken as HTML. Knows nothing of metrics or trajectories.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from prm.errors import InputError
from prm.report.cells import cell_text, unit
from prm.report.elements import Cell, Column, Estimate, Figure, Section, Table
from prm.report.figures.theme import DARK, LIGHT
from prm.report.safe_text import script_json

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_ALLOWED = (
    "default-src 'none'",
    "style-src 'unsafe-inline'",  # the style element, and the styles inside drawn figures
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
)


@dataclass(frozen=True, slots=True)
class Part:
    """A chapter with its own markup and behaviour.

    Attributes:
        id: Its anchor.
        title: Its heading.
        text: Plain words below the heading; blank lines part paragraphs.
        body: HTML that is safe already.
        style: CSS of its own.
        script: JavaScript of its own, run as a module after the page's.
    """

    id: str
    title: str
    text: str
    body: Markup
    style: str = ""
    script: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What a report shows, from top to bottom.

    Attributes:
        title: The heading.
        subtitle: One line below it, or "".
        summary: Sentences in plain words.
        sections: Chapters of text, tables and figures.
        parts: Chapters with a behaviour of their own, after the sections.
    """

    title: str
    subtitle: str = ""
    summary: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The relative paths of all files that the page names, in its order."""
        found: list[str] = []
        for section in self.sections:
            found += [path for table in section.tables for path in table_files(table)]
            found += [path for figure in section.figures for path in figure_files(figure)]
        return tuple(found)


def table_files(table: Table) -> tuple[str, str]:
    """Where a table's CSV and Markdown lie, relative to the page."""
    return f"tables/{table.name}.csv", f"tables/{table.name}.md"


def figure_files(figure: Figure) -> tuple[str, str]:
    """Where a figure's SVG and PNG lie, relative to the page."""
    return f"plots/{figure.name}.svg", f"plots/{figure.name}.png"


def page_html(page: Page) -> str:
    """The page as one HTML text.

    Raises:
        InputError: The name of a table or a figure is no file name, or two share one.
    """
    _check_names(page)
    scripts = [asset("page.js"), *(part.script for part in page.parts if part.script)]
    html: str = _template().render(
        page=page,
        chapters=[*page.sections, *page.parts],
        policy="; ".join([*_ALLOWED, f"script-src {' '.join(map(_hash, scripts))}"]),
        light=Markup(_declarations(LIGHT)),
        dark=Markup(_declarations(DARK)),
        style=Markup("\n".join([asset("page.css"), *(part.style for part in page.parts)])),
        scripts=[Markup(script) for script in scripts],
    )
    return html


def _check_names(page: Page) -> None:
    for path, times in Counter(page.files).items():
        name = path.partition("/")[2].rpartition(".")[0]
        if not _FILE_NAME.fullmatch(name):
            raise InputError.at("report", "a table's or figure's name must be a file name", name, "rename it")
        if times > 1:
            raise InputError.at("report", "every table and figure must have its own name", name, "rename one")


@cache
def asset(name: str) -> str:
    """The text of a file in ``assets/``."""
    return files("prm.report").joinpath("assets", name).read_text(encoding="utf-8")


def rendered(source: str, **values: object) -> Markup:
    """The body of a part: the template `source` with `values`; its filter ``json`` writes JSON for a script."""
    jinja = _environment()
    jinja.filters["json"] = lambda value: Markup(script_json(value))
    return Markup(jinja.from_string(source).render(values))


def _environment() -> Environment:
    """Jinja with everything escaped and nothing undefined."""
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def _template() -> Any:
    jinja = _environment()
    jinja.filters.update(
        drawn=Markup,
        figure_files=figure_files,
        meanings=lambda table: [column for column in table.columns if column.meaning],
        paragraphs=paragraphs,
        shown=shown_cells,
        table_files=table_files,
        unit=unit,
    )
    return jinja.from_string(asset("page.html.jinja"))


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: blank lines part them."""
    return [paragraph.strip() for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell on the page.

    Attributes:
        text: The value as people read it.
        interval: "[low, high]", or "".
        kind: text or value.
        raw: What it sorts by, None = last.
    """

    text: str
    interval: str
    kind: str
    raw: str | None


def shown_cells(row: Sequence[Cell], columns: Sequence[Column]) -> Iterator[ShownCell]:
    """The cells of a row as the page shows them."""
    for cell, column in zip(row, columns, strict=True):
        value, interval = (cell.value, _interval(cell, column)) if isinstance(cell, Estimate) else (cell, "")
        kind = "text" if column.kind == "text" else "value"
        yield ShownCell(cell_text(value, column.kind), interval, kind, None if value is None else str(value))


def _interval(cell: Estimate, column: Column) -> str:
    if cell.value is None or cell.low is None or cell.high is None:
        return ""
    return f"[{cell_text(cell.low, column.kind)}, {cell_text(cell.high, column.kind)}]"


def _declarations(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {value};" for name, value in variables.items())


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

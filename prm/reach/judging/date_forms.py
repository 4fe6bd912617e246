"""Dates and clock times in text, however they are written: ``2024-05-19`` (``xxxx-05-19`` without a year), ``17:00``.

Nothing is computed: ``tomorrow`` stays a word, since what it means depends on a clock (declare a derivation for it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

UNKNOWN_YEAR = "xxxx"

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:])"
_YEAR = r"(?P<{0}>(?:19|20)\d\d)(?!\w)"

_DATE = re.compile(
    "|".join(
        (
            # 2024-05-19, 2024/5/19, 2024.05.19, and the date of 2024-05-19T15:00:00
            r"(?<![\w.-])(?P<y1>(?:19|20)\d\d)(?P<sep>[-/.])(?P<m1>[01]?\d)(?P=sep)(?P<d1>[0-3]?\d)(?:t(?=\d)|(?![\w-]))",
            # 2024年5月19日, 5月19日
            r"(?:(?P<y2>(?:19|20)\d\d)\s{0,3}年\s{0,3})?(?P<m2>[01]?\d)\s{0,3}月\s{0,3}(?P<d2>[0-3]?\d)\s{0,3}[日号]",
            # 05/19/2024, 19.05.2024, 19-05-2024
            r"(?<![\w.-])(?P<a3>[0-3]?\d)(?P<sep3>[-/.])(?P<b3>[0-3]?\d)(?P=sep3)(?P<y3>(?:19|20)\d\d)(?![\w-])",
            # May 19, 2024; May 19th; Sept. 3
            rf"\b{_MONTH.format('m4')}\s{{1,3}}(?:the\s{{1,3}})?{_DAY.format('d4')}(?:,?\s{{1,3}}(?:of\s{{1,3}})?{_YEAR.format('y4')})?",
            # 19 May 2024; the 19th of May
            rf"\b{_DAY.format('d5')}[\s-]{{1,3}}(?:of\s{{1,3}})?{_MONTH.format('m5')}(?:,?[\s-]{{1,3}}{_YEAR.format('y5')})?",
        )
    ),
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\w:.])(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_SECONDS = re.compile(r"(?<![\d:])(\d{1,2}:\d\d):00(?![\d:])")
_DIGIT = re.compile(r"\d")


def with_iso_dates(text: str) -> str:
    """`text` with every date and clock time in it in ISO form; both readings, where day and month could be swapped."""
    if not _DIGIT.search(text):
        return text
    return _SECONDS.sub(r"\1", _CLOCK.sub(_clock, _DATE.sub(_date, text)))


def _clock(match: re.Match[str]) -> str:
    hour = int(match[1])
    if not 1 <= hour <= 12:
        return match[0]
    return f"{hour % 12 + 12 * (match[3] in 'pP'):02d}:{match[2] or '00'}"


def _date(match: re.Match[str]) -> str:
    readings = tuple(_readings(match))
    return f" {' '.join(readings)} " if readings else match[0]


def _readings(match: re.Match[str]) -> Iterator[str]:
    part = match.groupdict()
    if part["a3"]:
        readings = dict.fromkeys(((part["a3"], part["b3"]), (part["b3"], part["a3"])))
        yield from (iso for month, day in readings if (iso := _iso(part["y3"], int(month), int(day))))
        return
    year = part["y1"] or part["y2"] or part["y4"] or part["y5"]
    named = part["m4"] or part["m5"]
    month = _MONTHS.index(named[:3].casefold()) + 1 if named else int(part["m1"] or part["m2"])
    iso = _iso(year, month, int(part["d1"] or part["d2"] or part["d4"] or part["d5"]))
    if iso:
        yield iso


def _iso(year: str | None, month: int, day: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{year or UNKNOWN_YEAR}-{month:02d}-{day:02d}"


def without_year(token: str) -> tuple[str, str] | None:
    """(the year, the date without it) of an ISO date with a year; None for anything else."""
    if len(token) == 10 and token[4] == token[7] == "-" and token[:4].isdigit() and token[5:7].isdigit():
        return token[:4], UNKNOWN_YEAR + token[4:]
    return None

"""Values in JSON by the paths of a spec, and tests of one value that need nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from prm.reach.judging.normal_forms import is_same, tokens_of
from prm.reach.log.json_text import text_of_json
from prm.reach.spec.conditions import Said, ValueTest

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_LETTERS, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")


def values_at(value: Any, path: Sequence[str]) -> list[Any]:
    """The values that `path` leads to: lists are passed through, a number is a position, ``*`` any key."""
    found = [value]
    for key in path:
        found = [below for item in found for below in _step(item, key)]
    return found


def _step(value: Any, key: str) -> list[Any]:
    if isinstance(value, Mapping):
        if key == "*":
            return list(value.values())
        return [value[key]] if key in value else []
    if isinstance(value, list | tuple):
        if key == "*":
            return list(value)
        if key.isascii() and key.isdigit():
            return [value[int(key)]] if int(key) < len(value) else []
        return [item[key] for item in value if isinstance(item, Mapping) and key in item]
    return []


def exists(value: Any, damage_marks: Sequence[str] = ()) -> bool:
    """Whether there is a value: not null, not empty, and no text that holds a mark of damage."""
    if value is None or value in ("", [], {}):
        return False
    return not (isinstance(value, str) and any(mark in value for mark in damage_marks))


def passes(test: ValueTest, value: Any) -> bool:
    """Whether one value passes `equals`, `in`, the comparisons, `text` and `shape`, as far as they are given."""
    given = test.model_fields_set
    if "equals" in given and not is_equal(value, test.equals):
        return False
    if test.one_of is not None and not any(is_equal(value, item) for item in test.one_of):
        return False
    if test.text is not None and not says(test.text, text_of_json(value)):
        return False
    if test.shape is not None and test.shape not in _shapes(text_of_json(value)):
        return False
    return _is_within(test, value) and _is_timely(test, value)


def _is_timely(test: ValueTest, value: Any) -> bool:
    if test.since is None and test.before is None:
        return True
    moment = moment_of(value)
    if moment is None:
        return False
    since, before = moment_of(test.since), moment_of(test.before)
    return (since is None or moment >= since) and (before is None or moment < before)


def _is_within(test: ValueTest, value: Any) -> bool:
    if test.gt is None and test.ge is None and test.lt is None and test.le is None:
        return True
    number = number_of(value)
    if number is None:
        return False
    return (
        (test.gt is None or number > test.gt)
        and (test.ge is None or number >= test.ge)
        and (test.lt is None or number < test.lt)
        and (test.le is None or number <= test.le)
    )


def is_equal(value: Any, expected: Any) -> bool:
    """Whether a value is the expected one, however it is written; a boolean is no number, null only null."""
    if value is None or expected is None:
        return value is expected
    if isinstance(value, bool) is not isinstance(expected, bool) and not isinstance(value, str):
        return False
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return value == expected
    if isinstance(value, Mapping | list | tuple):
        return False
    return value == expected or is_same(value, expected)


def number_of(value: Any) -> float | None:
    """A number, also one in text (full-width digits, thousands marks); None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str) or len(value) > 100:
        return None
    text = unicodedata.normalize("NFKC", value).strip().replace(",", "")
    return float(text) if _NUMBER.fullmatch(text) else None


def moment_of(value: Any) -> datetime | None:
    """A date or time in ISO form, as it is written there (a zone is not applied); None for anything else."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        return datetime.fromisoformat(value.strip().removesuffix("Z")).replace(tzinfo=None)
    except ValueError:
        return None


def says(said: Said, text: str) -> bool:
    """Whether a text says one of the words, none of the forbidden ones, and asks if it must."""
    if said.question is not None and said.question is not ("?" in text or "？" in text):
        return False
    if not said.words and not said.none_of:
        return True
    spaced = spaced_tokens(text)
    if any(_phrase(word) in spaced for word in said.none_of):
        return False
    return not said.words or any(_phrase(word) in spaced for word in said.words)


@lru_cache(maxsize=256)
def spaced_tokens(text: str) -> str:
    """The tokens of a text between single spaces: a whole word or phrase is found with its spaces around it."""
    return f" {' '.join(tokens_of(text))} "


@lru_cache(maxsize=4096)
def _phrase(word: str) -> str:
    return spaced_tokens(word)


def _shapes(text: str) -> set[str]:
    """The shapes of the words of a text: ``apple-4`` is ``a-9``."""
    return {_DIGITS.sub("9", _LETTERS.sub("a", token)) for token in tokens_of(text)}

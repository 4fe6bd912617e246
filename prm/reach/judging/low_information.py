"""Which values say too little to prove where they came from: they never ground anything.

Low-information are null, booleans, empty text, whole numbers below 100 and decimals of at most two digits, single
characters, words of at most three small letters, the commonest words, and words that stand for something missing
(``unknown``, ``n/a``); the words are listed in ``low_information.yaml``. A short identifier that holds a digit
(``T41``) or begins with a capital (``JFK``, ``Li``) is not, unless it is a common word. A text of several words is
low-information if all its words are and there are at most two, or if it is a known way to say that something is
missing.

Even so a low-information value has an *exact whole match in the right place*: a returned value under a key of the
parameter's own name (see `right_place`). That explains it; nothing else does.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from prm.reach.judging.normal_forms import is_spaceless, tokens_of_value

_SMALL_NUMBER = re.compile(r"\d{1,2}|\d\.\d|0\.\d\d?")


def is_low_information(value: Any) -> bool:
    """Whether a JSON leaf says too little to ground anything."""
    tokens = tokens_of_value(value)
    if tokens in _missing_phrases():
        return True
    if len(tokens) > 2 or (len(tokens) == 2 and all(is_spaceless(token) for token in tokens)):
        return False
    # A name or a code is told by its capital, which the tokens no longer have.
    is_name = isinstance(value, str) and value.strip()[:1].isupper()
    return all(_says_little(token) or (_is_short_word(token) and not is_name) for token in tokens)


def _says_little(token: str) -> bool:
    return len(token) == 1 or token in _words() or _SMALL_NUMBER.fullmatch(token) is not None


def _is_short_word(token: str) -> bool:
    return len(token) <= 3 and token.isascii() and token.isalpha()


@cache
def _data() -> dict[str, Any]:
    return dict(yaml.safe_load(files("prm.reach.judging").joinpath("low_information.yaml").read_text("utf-8")))


@cache
def _words() -> frozenset[str]:
    return frozenset(f"{_data()['common_words']} {_data()['missing_words']}".split())


@cache
def _missing_phrases() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in _data()["missing_phrases"])

"""Normal forms: when two differently written values are the same. Knows no run and no spec.

A text is a sequence of *tokens*. Width (NFKC), case, whitespace, quotes and markdown, currency and thousands marks,
a leading ``#`` and the writing of dates (see `date_forms`) make no difference. An identifier is one token, whatever
``_ - . @`` it holds, so that ``credit_card_5634230`` is not grounded by ``gift_card_5634230`` nor by ``5634230``.
A script written without spaces has one token a character.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from prm.reach.judging.date_forms import with_iso_dates

Tokens = tuple[str, ...]

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
_WORD = rf"[^\W{_SPACELESS}]+"
_TOKEN = re.compile(
    rf"[{_SPACELESS}]"
    r"|\d{1,2}:\d{2}(?::\d{2})?(?![\d:])"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])"
    rf"|{_WORD}(?:[-.@'+]+{_WORD})*"
)
_SPACELESS_CHARACTER = re.compile(rf"[{_SPACELESS}]")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_SAME_MARKS = str.maketrans({"‐": "-", "‑": "-", "−": "-", "’": "'", "‘": "'", "ʼ": "'"})
_SENTENCE_END = re.compile(r"(?<=[^\W_])\.(?=[A-Z][a-z])")
# One word that is no date: most leaves of most results, told at a glance.
_PLAIN_WORD = re.compile(r"[A-Za-z](?:[\w-]*[A-Za-z0-9])?", re.ASCII)
_DECIMAL = re.compile(r"\d+\.\d+")
_CURRENCY = "(?:usd|eur|gbp|cny|rmb|jpy|inr|aud|cad|chf)"
_MONEY = re.compile(rf"{_CURRENCY}(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?){_CURRENCY}")
_JOINED_WORDS = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)+")
_MAX_CODE_LENGTH = 3
_MAX_CACHED_LENGTH = 200


def tokens_of(text: str) -> Tokens:
    """The tokens of a text, in order."""
    return _cached_tokens(text) if len(text) <= _MAX_CACHED_LENGTH else _tokens(text)


def tokens_of_value(value: Any) -> Tokens:
    """The tokens of one JSON leaf; none for null, for empty text and for what is no leaf."""
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        return tokens_of(value)
    if isinstance(value, int | float):
        return (_number(value),)
    return ()


def normal_form(value: Any) -> str:
    """One JSON leaf in the form in which equal values are equal; "" for null and empty text."""
    return " ".join(tokens_of_value(value))


def is_same(value: Any, other: Any) -> bool:
    """Whether two JSON leaves are the same value, however each is written."""
    return value == other or (normal_form(value) == normal_form(other) and normal_form(value) != "")


def is_spaceless(token: str) -> bool:
    """Whether a token is one character of a script that is written without spaces."""
    return len(token) == 1 and _SPACELESS_CHARACTER.fullmatch(token) is not None


def alternatives_of(token: str) -> Tokens:
    """What else a token of a *source* may stand for: the codes of ``JFK-SEA``, the amount of ``50usd``, the name
    before the ``@`` of a mail address."""
    if "@" in token:
        return (token.partition("@")[0],)
    parts = token.split("-") if "-" in token else ()
    if len(parts) > 1 and all(part.isalpha() and len(part) <= _MAX_CODE_LENGTH for part in parts):
        return tuple(parts)
    money = _MONEY.fullmatch(token)
    return (_plain_number(money[1] or money[2]),) if money is not None else ()


def spoken_form(tokens: Tokens) -> Tokens | None:
    """How people say a value whose words are joined: ``basic_economy`` is "basic economy"; None for others."""
    parts = tokens[0].split("-") if len(tokens) == 1 else []
    return tuple(parts) if len(parts) > 1 and all(part.isalpha() for part in parts) else None


@lru_cache(maxsize=50_000)
def _cached_tokens(text: str) -> Tokens:
    return _tokens(text)


def _tokens(text: str) -> Tokens:
    if _PLAIN_WORD.fullmatch(text):
        return (_token(text),)
    clean = unicodedata.normalize("NFKC", text).translate(_INVISIBLE).translate(_SAME_MARKS)
    dated = with_iso_dates(_SENTENCE_END.sub(". ", clean))
    return tuple(token for match in _TOKEN.findall(dated) if (token := _token(match)))


def _token(match: str) -> str:
    token = match.casefold().strip("_").removesuffix("'s")
    if token[:1].isdigit():
        return _plain_number(token)
    # Words may be joined by either mark; in an identifier that holds a digit the mark matters.
    return token.replace("_", "-") if "_" in token and _JOINED_WORDS.fullmatch(token) else token


def _plain_number(token: str) -> str:
    """``1,134.50`` → ``1134.5``; leading zeros stay, since ``007`` names something."""
    if "," in token:
        token = token.replace(",", "")
    return token.rstrip("0").rstrip(".") if _DECIMAL.fullmatch(token) else token


def _number(value: int | float) -> str:
    """A JSON number as a text would write it, without its sign."""
    try:
        text = format(abs(Decimal(str(value))), "f")
    except InvalidOperation:
        return str(value)
    return _plain_number(text) if len(text) <= _MAX_CACHED_LENGTH else str(value)

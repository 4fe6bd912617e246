"""The values of OTLP JSON: attributes as plain JSON and back, and the strict ways to take something out of a document.

Every function raises `RecordError` with the place where the document is not as the encoding says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from prm.errors import RecordError

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,20}")
_LARGEST = 2**64


def plain_attributes(holder: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The `attributes` of a span, resource or event as a plain object.

    Raises:
        RecordError: They are no list of keys and values.
    """
    plain = {}
    for number, pair in enumerate(list_at(holder, "attributes", where)):
        at = f"{where}.attributes[{number}]"
        name = text_at(object_at(pair, at), "key", at)
        plain[name] = plain_value(pair.get("value"), at)
    return plain


def plain_value(value: Any, where: str) -> Any:
    """The JSON value of one AnyValue; bytes stay base64 text.

    Raises:
        RecordError: It is none.
    """
    if value is None or value == {}:
        return None
    for key, read in _KINDS.items():
        if key in object_at(value, where):
            return read(value[key], f"{where}.{key}")
    raise RecordError.at(where, f"must hold one of {', '.join(_KINDS)}", value, "write OTLP JSON")


def _as_is(value: Any, where: str) -> Any:
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    raise RecordError.at(where, "must be a plain value", value, "write OTLP JSON")


def whole_number(value: Any, where: str) -> int:
    """A 64-bit number: as such, or as text, which is how OTLP JSON writes it.

    Raises:
        RecordError: It is none.
    """
    is_number = isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) is not None
    if (is_number or type(value) is int) and -_LARGEST <= int(value) <= _LARGEST:
        return int(value)
    raise RecordError.at(where, "must be a whole number", value, "write OTLP JSON")


def _array(value: Any, where: str) -> list[Any]:
    parts = list_at(object_at(value, where), "values", where)
    return [plain_value(part, f"{where}.values") for part in parts]


def _key_values(value: Any, where: str) -> dict[str, Any]:
    return plain_attributes({"attributes": list_at(object_at(value, where), "values", where)}, where)


_KINDS: Mapping[str, Callable[[Any, str], Any]] = {
    "stringValue": _as_is,
    "boolValue": _as_is,
    "intValue": whole_number,
    "doubleValue": _as_is,
    "arrayValue": _array,
    "kvlistValue": _key_values,
    "bytesValue": _as_is,
}


def any_value(value: str | bool | int | float) -> dict[str, Any]:
    """The AnyValue of a plain value."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def attribute_list(attributes: Mapping[str, str | bool | int | float | None]) -> list[dict[str, Any]]:
    """Attributes as OTLP JSON writes them; what is None is left out."""
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items() if value is not None]


def object_at(value: Any, where: str) -> Mapping[str, Any]:
    """`value`, which must be an object; else raises RecordError."""
    if not isinstance(value, Mapping):
        raise RecordError.at(where, "must be an object", value, "write OTLP JSON")
    return value


def list_at(holder: Any, key: str, where: str) -> list[Any]:
    """The list under `key`, empty where it is null or absent; RecordError for anything else."""
    value = object_at(holder, where).get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RecordError.at(f"{where}.{key}", "must be a list", value, "write OTLP JSON")
    return value


def text_at(holder: Mapping[str, Any], key: str, where: str) -> str:
    """The text under `key`, "" where it is null or absent; RecordError for anything else."""
    value = holder.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError.at(f"{where}.{key}", "must be text", value, "write OTLP JSON")
    return value

"""A flat YAML recipe and the command line → dataclasses, for stages whose options are dataclasses.

A recipe may say which stage it is for (``stage: grpo``); another stage refuses it. Knows nothing of any stage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from transformers import HfArgumentParser

from prm.data.yaml_file import read_yaml
from prm.errors import ConfigError, MissingFileError

STAGE = "stage"
DEFAULT_STAGE = "supervised"
"""The stage of a recipe that names none."""


@dataclass(frozen=True)
class Recipe:
    """The recipes of one stage.

    Attributes:
        stage: The value of the key `stage`.
        command: What a user runs, e.g. "prm train grpo"; for messages.
        parts: The dataclasses of the options; an option may be in one of them only.
    """

    stage: str
    command: str
    parts: tuple[type, ...]

    def parser(self) -> Any:
        """The argument parser of all options (also prints their help)."""
        return _OneLineParser(self.parts, prog=self.command, allow_abbrev=False)

    def parse(self, recipe: Path | None, overrides: Sequence[str]) -> list[Any]:
        """One object of each part.

        Without `validation_data` nothing waits for an evaluation.

        Args:
            recipe: The YAML file, or None.
            overrides: Options as on a command line; they win.

        Raises:
            ConfigError: An unknown key, a wrong type, a missing key, another stage's recipe, or values that do not go
                together.
        """
        where = "command line" if recipe is None else str(recipe)
        settings = {} if recipe is None else self._settings(recipe)
        # argparse has no null and no empty list: such keys are set after parsing.
        unset = {key for key, value in settings.items() if value is None or value == []}
        arguments = [text for key, value in settings.items() if key not in unset for text in _as_arguments(key, value)]
        if not any(_option_name(text) == "validation_data" for text in [*arguments, *overrides]):
            overrides = [*overrides, "--eval_strategy=no", "--load_best_model_at_end=false", "--eval_on_start=false"]
        parsed = self._parse([*arguments, *overrides], where)
        for key in unset - {_option_name(text) for text in overrides if text.startswith("--")}:
            self._set_empty(parsed, key, settings[key], where)
        return parsed

    def _settings(self, path: Path) -> dict[str, Any]:
        settings = read_recipe(path)
        stage = settings.pop(STAGE, DEFAULT_STAGE)
        if stage != self.stage:
            raise ConfigError.at(f"{path}: {STAGE}", f"must be {self.stage}", stage, f"run `prm train {stage}`")
        return settings

    def _parse(self, arguments: list[str], where: str) -> list[Any]:
        try:
            *parsed, unknown = self.parser().parse_args_into_dataclasses(arguments, return_remaining_strings=True)
        except ConfigError:
            raise
        except (ValueError, TypeError, ImportError) as error:
            reason = " ".join(str(error).split())
            raise ConfigError(f"{where}: options must go together, got an error ({reason}); change them") from None
        if unknown:
            raise ConfigError.at(where, "every key must be an option", unknown[0], f"see `{self.command} --help`")
        for options in parsed:
            _refuse_infinite(options)
        return list(parsed)

    def _set_empty(self, parsed: Sequence[Any], key: str, value: Any, where: str) -> None:
        for options in parsed:
            if key in {field.name for field in fields(options)}:
                setattr(options, key, value)
                return
        raise ConfigError.at(where, "every key must be an option", key, f"see `{self.command} --help`")


def _refuse_infinite(options: Any) -> None:
    """A weight of nan passes every comparison, and no run folder could store it."""
    for field in fields(options):
        value = getattr(options, field.name)
        if isinstance(value, float) and not math.isfinite(value) and value is not field.default:
            raise ConfigError.at(field.name, "must be a finite number", value, "change it")


def read_recipe(path: Path) -> dict[str, Any]:
    """The keys and values of a recipe, dashes in keys as underscores.

    Raises:
        MissingFileError: There is no such file.
        ConfigError: It is no flat YAML mapping, or holds a key twice.
    """
    if not path.is_file():
        raise MissingFileError(f"{path}: the recipe must exist, found nothing; check the path")
    settings = read_yaml(path)
    if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
        raise ConfigError.at(str(path), "a recipe is a flat YAML mapping", settings, "write one `key: value` a line")
    return {key.replace("-", "_"): value for key, value in settings.items()}


def stage_of(path: Path) -> str:
    """The stage that a recipe is for."""
    return str(read_recipe(path).get(STAGE, DEFAULT_STAGE))


class _OneLineParser(HfArgumentParser):  # type: ignore[misc,unused-ignore]
    """argparse prints usage and exits; here its complaint becomes a one-line error."""

    def error(self, message: str) -> Any:
        raise ConfigError(f"options: {message}; see `{self.prog} --help`")


def _option_name(text: str) -> str:
    return text[2:].split("=")[0].replace("-", "_")


def _as_arguments(key: str, value: Any) -> list[str]:
    if isinstance(value, list):
        return [f"--{key}", *(_as_argument(key, item) for item in value)]
    return [f"--{key}={_as_argument(key, value)}"]


def _as_argument(key: str, value: Any) -> str:
    if isinstance(value, dict | list):
        raise ConfigError.at(key, "a recipe is flat", value, "write it as one key a line")
    return str(value)

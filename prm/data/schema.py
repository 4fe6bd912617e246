"""The JSON Schemas that the package publishes, as text."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from prm.errors import ConfigError

SCHEMAS: Mapping[str, tuple[str, str]] = {
    "trajectory": ("prm.data", "schemas/trajectory.json"),
    "prediction": ("prm.data", "schemas/prediction.json"),
    "metrics": ("prm.evaluation", "metrics.schema.json"),
    "agreement": ("prm.evaluation", "agreement.schema.json"),
    "reach-spec": ("prm.reach.spec", "spec.schema.json"),
    "reach-verdict": ("prm.reach.judging", "verdict.schema.json"),
    "reach-report": ("prm.reach.metrics", "report.schema.json"),
    "reach-comparison": ("prm.reach.metrics", "comparison.schema.json"),
    "reach-stability": ("prm.reach.metrics", "stability.schema.json"),
}
"""What a schema is of → (package, file in it)."""


def read_schema(of: str) -> str:
    """The JSON Schema (draft 2020-12) of trajectory records, prediction records, metrics files, agreement files,
    or one of Reach's files.

    Raises:
        ConfigError: There is none of that name.
    """
    if of not in SCHEMAS:
        raise ConfigError.at("prm schema", f"must be one of {', '.join(SCHEMAS)}", of, "name one of them")
    package, name = SCHEMAS[of]
    return files(package).joinpath(name).read_text(encoding="utf-8")

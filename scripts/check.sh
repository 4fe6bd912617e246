#!/usr/bin/env bash
# Format, lint and types. PYTHON and PRM_VENV: see environment.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
prepare dev
"$PY" -m ruff format --check .
"$PY" -m ruff check .
"$PY" -m mypy --strict

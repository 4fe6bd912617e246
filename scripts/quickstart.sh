#!/usr/bin/env bash
# From a fresh clone to a trained and measured step classifier, on a CPU: installs the project into .venv and runs
# `prm quickstart` with the arguments given here. PYTHON and PRM_VENV: see environment.sh.
set -euo pipefail
here="$PWD"
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
prepare quickstart
PY="$(cd "$(dirname "$PY")" && pwd)/python"
cd "$here"
exec "$PY" -m prm quickstart "$@"

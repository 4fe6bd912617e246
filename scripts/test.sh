#!/usr/bin/env bash
# The tests. `--fast` leaves out those that need the real base model or take minutes; all other arguments go to
# pytest. PYTHON and PRM_VENV: see environment.sh; PRM_TEST_WORKERS: processes (default 2), with one thread each.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
selection=()
rest=()
for argument in "$@"; do
  if [ "$argument" = --fast ]; then
    selection=(-m "not needs_model and not slow")
  else
    rest+=("$argument")
  fi
done
prepare dev
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
exec "$PY" -m pytest -n "${PRM_TEST_WORKERS:-2}" --dist worksteal ${selection[@]+"${selection[@]}"} ${rest[@]+"${rest[@]}"}

# Sourced by the other scripts: `prepare EXTRA` goes to the project's folder and makes sure that a virtual
# environment has the project with that extra; afterwards $PY is its Python.
#   PYTHON  the interpreter that makes the environment (default: python3; 3.10 or newer)
#   PRM_VENV    the environment's folder (default: .venv in the project)
# A stamp in the environment lets later runs skip pip; it is written only after a complete install.

fail() {
  echo "error: $1" >&2
  exit 2
}

make_environment() {
  local python="${PYTHON:-python3}"
  command -v "$python" >/dev/null || fail "PYTHON: interpreter must exist, got $python; install Python 3.10 or newer"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
    || fail "PYTHON: version must be 3.10 or newer, got $("$python" -V 2>&1); set PYTHON to a newer one"
  echo "making $PRM_VENV with $("$python" -V)" >&2
  "$python" -m venv --clear "$PRM_VENV" || fail "$PRM_VENV: venv must work, got an error; on Debian install python3-venv"
}

install_project() {
  local extra="$1" stamp="$PRM_VENV/.prm-$1" wanted
  wanted="$("$PY" - "$PWD" <<'CODE'
import hashlib, pathlib, sys
parts = [pathlib.Path(name).read_bytes() for name in ("pyproject.toml", "constraints.txt")]
print(hashlib.sha256(b"\0".join([*parts, sys.version.encode(), sys.argv[1].encode()])).hexdigest())
CODE
)"
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    return
  fi
  rm -f "$stamp"
  echo "installing into $PRM_VENV (a few minutes the first time)" >&2
  "$PY" -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[$extra]" >&2 \
    || fail "pip: install must succeed, got an error (above); check the connection and run this again"
  echo "$wanted" >"$stamp.partial"
  mv "$stamp.partial" "$stamp"
}

prepare() {
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  PRM_VENV="${PRM_VENV:-.venv}"
  PY="$PRM_VENV/bin/python"
  "$PY" -m pip --version >/dev/null 2>&1 || make_environment
  install_project "$1"
}

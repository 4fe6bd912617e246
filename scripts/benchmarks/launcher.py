"""Runs the command in its arguments and prints, as JSON, its wall time, its peak memory and its exit code.

Imports the standard library only, so that it is small: a child's peak memory begins with its parent's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

_BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Reads the command from `sys.argv`."""
    start = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    peak_megabytes = round(usage.ru_maxrss * _BYTES_PER_UNIT / 1e6, 1)
    print(json.dumps({"seconds": seconds, "peak_megabytes": peak_megabytes, "exit_code": process.returncode}))


if __name__ == "__main__":
    main()

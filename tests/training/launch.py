"""Starts prm in processes of its own, alone or under `accelerate launch`, and kills it where a test wants that."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def run_prm(arguments: Sequence[str], timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """One process; its output is returned, a failure raises with it."""
    return _checked([sys.executable, "-m", "prm", *arguments], timeout)


def launch_prm(
    arguments: Sequence[str], config: str, module: str = "prm", timeout: float = 400
) -> subprocess.CompletedProcess[str]:
    """Two processes under `accelerate launch` with a machine config of this repository."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(
            sys.executable,
            "-m",
            "accelerate.commands.launch",
            "--config_file",
            str(ROOT / "configs/accelerate" / config),
        ),
        *("--main_process_port", str(port), "--num_cpu_threads_per_process", "1", "-m", module),
    ]
    return _checked([*command, *arguments], timeout)


def _checked(command: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env=_ENVIRONMENT, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done


def kill_prm_when(arguments: Sequence[str], ready: Callable[[], bool], timeout: float = 200) -> None:
    """Starts prm and kills it with SIGKILL as soon as `ready` says so; it must not have ended by itself before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "prm", *arguments],
        env=_ENVIRONMENT,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + timeout
    while not ready():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end, "it never got to where it was to be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()


def run_measured(command: Sequence[str]) -> int:
    """Runs a command that must succeed. Returns its peak memory in bytes."""
    environment = {**_ENVIRONMENT, "OMP_NUM_THREADS": "2"}
    process = subprocess.Popen(command, env=environment, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024

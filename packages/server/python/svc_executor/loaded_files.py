"""The files of the project that were imported. `svc dev` watches them."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

_OTHERS = tuple(
    path + os.sep
    for path in (
        str(Path(__file__).parent),
        *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)
"""Folders of this package, of the standard library and of installed packages."""


def loaded_files() -> list[str]:
    """The files of all imported modules, without installed packages and this package."""
    files: list[str] = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and _is_of_project(file):
            files.append(file)
    return files


def _is_of_project(file: str) -> bool:
    return os.path.isabs(file) and f"{os.sep}site-packages{os.sep}" not in file and not file.startswith(_OTHERS)

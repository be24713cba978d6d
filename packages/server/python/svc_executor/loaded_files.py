"""The files of the project that were imported, or whose import has failed. `svc dev` watches them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence

from .failures import is_of_project


class LoadedFiles:
    """Reports each file once."""

    def __init__(self, folders: Sequence[str]) -> None:
        """`folders`: where the modules of the project are."""
        self._folders = folders
        self._reported: set[str] = set()
        self._failed: list[str] = []
        self._modules = 0

    def add_failure(self, error: BaseException) -> None:
        """Adds the files that an import has reached before it failed, and those that it has not found."""
        self._failed.extend(_files_of(error, self._folders))

    def take(self) -> list[str]:
        """The files since the last call."""
        failed, self._failed = self._failed, []
        found = list(failed)
        # Most runs import nothing.
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            found.extend(_imported())
        new = [file for file in dict.fromkeys(found) if file not in self._reported]
        self._reported.update(new)
        return new


def _imported() -> Iterator[str]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and _is_watched(file):
            yield file


def _files_of(error: BaseException, folders: Sequence[str]) -> Iterator[str]:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, SyntaxError) and seen.filename and _is_watched(seen.filename):
            yield seen.filename
        for frame in traceback.extract_tb(seen.__traceback__):
            if _is_watched(frame.filename):
                yield frame.filename
        if isinstance(seen, ModuleNotFoundError) and seen.name:
            # The import works once one of these exists.
            for folder in folders:
                yield os.path.join(folder, *seen.name.split(".")) + ".py"
        seen = seen.__cause__ or seen.__context__


def _is_watched(file: str) -> bool:
    return os.path.isabs(file) and is_of_project(file)

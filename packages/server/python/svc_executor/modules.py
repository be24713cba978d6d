"""Imports the files of a project under names by which other modules import them too."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .failures import ProjectMistake, first_error, place_of


class ImportFailed(ProjectMistake):
    """A file of the project cannot be imported. The message has the place, the cause and the remedy."""


def import_file(file: str) -> ModuleType:
    """The module of a file. Raises ImportFailed.

    Where `import` finds the file, its module has the name of that import, so the classes in states are found again after a restart.
    """
    path = os.path.realpath(file)
    try:
        for name in _names(path):
            found = _import_if_found(name, path)
            if found is not None:
                return found
        return _load(file, path)
    except (KeyboardInterrupt, SystemExit) as error:
        raise ImportFailed(f"{file}: it ends the process while it is imported ({type(error).__name__})") from error
    except Exception as error:
        raise ImportFailed(_explain(file, error)) from error


def exported(file: str, name: str) -> Any:
    """An object of a file. Raises ProjectMistake."""
    module = import_file(file)
    if not hasattr(module, name):
        names = ", ".join(each for each in vars(module) if not each.startswith("_"))
        raise ProjectMistake(f"{file} has no {name}; it has {names or 'nothing'}. Name one of them after the colon")
    return getattr(module, name)


def _names(path: str) -> Iterator[str]:
    """Names under which a file may be imported, from the folder next to it outwards."""
    folders = sorted({os.path.realpath(folder) for folder in sys.path if folder}, key=len, reverse=True)
    for folder in folders:
        if not path.startswith(folder + os.sep):
            continue
        steps = os.path.splitext(os.path.relpath(path, folder))[0].split(os.sep)
        if steps[-1] == "__init__":
            steps.pop()
        if steps and all(step.isidentifier() for step in steps):
            yield ".".join(steps)


def _import_if_found(name: str, path: str) -> ModuleType | None:
    """The module of the name, if that is the file and not another module."""
    top = name.split(".")[0]
    # Not a module of the standard library or of a package that happens to have the name.
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or not _is_above(spec.origin, spec.submodule_search_locations, path):
        return None
    found = importlib.import_module(name)
    return found if os.path.realpath(getattr(found, "__file__", None) or "") == path else None


def _is_above(origin: str | None, locations: object, path: str) -> bool:
    if origin is not None and os.path.realpath(origin) == path:
        return True
    folders = list(locations) if locations else []  # type: ignore[call-overload]
    return any(path.startswith(os.path.realpath(folder) + os.sep) for folder in folders)


def _load(file: str, path: str) -> ModuleType:
    """Loads a file that no import finds, under the name of its file."""
    stem = os.path.splitext(os.path.basename(path))[0]
    name = stem if stem.isidentifier() and stem not in sys.modules and stem not in sys.stdlib_module_names else f"{stem}_"
    while name in sys.modules:
        if os.path.realpath(getattr(sys.modules[name], "__file__", None) or "") == path:
            return sys.modules[name]
        name += "_"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _explain(file: str, error: Exception) -> str:
    first = first_error(error)
    place = place_of(first) or file
    cause = f"{type(first).__name__}: {first}"
    return f"{place}: {cause}. {_remedy(first)}"


def _remedy(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        return (
            f"Install it ({sys.executable} -m pip install {package.replace('_', '-')}), "
            'or name the folder that has it in "dependencies" of the config file.'
        )
    if isinstance(error, ImportError):
        return "Correct the import."
    if isinstance(error, SyntaxError):
        return "Correct the syntax."
    return "The module raises while it is imported: correct it."

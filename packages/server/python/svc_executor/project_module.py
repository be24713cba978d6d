"""Imports a file of the project."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def load_module(file: str, module: str | None = None) -> ModuleType:
    """Imports a file of the project. `module` is its name where the config file has one.

    A file in a package gets the name that other modules import it by, so that it is not executed twice. Otherwise its name is its stem.
    """
    if module is not None:
        return importlib.import_module(module)
    path = Path(file)
    name = _dotted_name(path)
    loaded = sys.modules.get(name)
    if loaded is not None and _is_file(loaded, path):
        return loaded
    if _finds(name, path):
        return importlib.import_module(name)
    # Another module has this name.
    if loaded is not None or importlib.util.find_spec(name.partition(".")[0]) is not None:
        name = f"{path.stem}_{hashlib.sha256(file.encode()).hexdigest()[:8]}"
        if name in sys.modules:
            return sys.modules[name]
    return _load_file(name, file)


def _dotted_name(path: Path) -> str:
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.parent.name


def _finds(name: str, path: Path) -> bool:
    """Whether an import of the name executes this file. Raises what the packages around it raise."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        return False
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return False  # another package has the name of the first folder
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path.resolve()


def _is_file(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).resolve() == path.resolve()


def _load_file(name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module

"""The classes whose objects are restored from stored values."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable
from typing import Any

_log = logging.getLogger(__name__)

_WARNINGS_MAX = 1_000

_OF_THE_ENGINE = {
    ("langgraph.types", "TimeoutPolicy"),
    ("langgraph.types", "StateSnapshot"),
    ("langgraph.types", "PregelTask"),
}
"""Classes of the engine that have no tag of their own."""


class Allowlist:
    """Classes by module and name: those of the state schemas, and those that the configuration names.

    Objects of other classes become plain data when they are read. A stored value therefore never decides which module is imported, unless
    the configuration allows all classes.
    """

    def __init__(self, names: Iterable[Iterable[str]] = (), *, everything: bool = False) -> None:
        self._names = _OF_THE_ENGINE | {_class_name(name) for name in names}
        self._classes: dict[tuple[str, str], type[Any]] = {}
        self._warned: set[tuple[str, str]] = set()
        self._everything = everything

    @classmethod
    def of(cls, configured: Iterable[Iterable[str]] | str) -> Allowlist:
        """The list of the configuration: classes, or "all"."""
        return cls(everything=True) if isinstance(configured, str) else cls(configured)

    def add(self, entries: Iterable[type[Any] | tuple[str, ...]]) -> None:
        """Allows classes, or their modules and names. The newest class of a name is the one that is used."""
        for entry in entries:
            if isinstance(entry, type):
                self._classes[entry.__module__, entry.__qualname__] = entry
            else:
                self._names.add(_class_name(entry))

    def find(self, module: str, name: str) -> type[Any] | None:
        """The class; None, with one warning, when it is not allowed or does not exist any more."""
        found = self._classes.get((module, name))
        if found is not None:
            return found
        if not (self._everything or (module, name) in self._names or (module, name.split(".")[-1]) in self._names):
            self._warn(
                module,
                name,
                "it is not in the schema of the state. Annotate the state with it, or name it in "
                f'"checkpointer": {{"serde": {{"allowed_msgpack_modules": [["{module}", "{name}"]]}}}}',
            )
            return None
        found = self._import(module, name)
        if found is not None:
            self._classes[module, name] = found
        return found

    def _import(self, module: str, name: str) -> type[Any] | None:
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception as error:  # a module of the project may raise anything
            self._warn(module, name, f"it cannot be imported ({type(error).__name__}: {error})")
            return None
        if isinstance(found, type):
            return found
        self._warn(module, name, "it is no class")
        return None

    def unreadable(self, cls: type[Any], error: Exception) -> None:
        """Reports an object that the class does not take any more."""
        self._warn(cls.__module__, cls.__qualname__, f"{type(error).__name__}: {error}")

    def _warn(self, module: str, name: str, why: str) -> None:
        if (module, name) in self._warned or len(self._warned) >= _WARNINGS_MAX:
            return
        self._warned.add((module, name))
        _log.warning("a stored %s.%s is read as plain data: %s", module, name, why)


def _class_name(parts: Iterable[str]) -> tuple[str, str]:
    """Module and name; the module may be given in parts."""
    *module, name = parts
    return ".".join(module), name

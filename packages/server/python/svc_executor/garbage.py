"""How often Python searches for unreachable cycles of objects: less often than by default, because each run of a graph creates many objects."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 5_000
"""New objects until the next search. With Python's default of 700, searches take a sixth of the CPU of a small run; with 10,000 no less than with 5,000."""


def collect_less_often() -> None:
    """Called before code of the project is imported, which may choose another threshold."""
    threshold, *older = gc.get_threshold()
    # Zero turns the searches off.
    if 0 < threshold < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *older)


def exclude_loaded() -> None:
    """Excludes the objects that exist now, such as modules and classes, from later searches: they live as long as the process."""
    gc.collect()
    gc.freeze()

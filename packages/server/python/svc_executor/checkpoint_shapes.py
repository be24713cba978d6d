"""The shapes of the engine's reports of checkpoints: stream modes `checkpoints` and `debug`.

The reports lack the paths of tasks, which the Node process needs to name tasks of `Send`: `note_paths` keeps them in the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .parts import Parts
from .session import Session, current_session
from .shapes import Shape, interrupts_shape, shape_of

_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")

_PATHS_MAX = 10_000
_TASKS_AT = 4
"""Where the tasks are among the arguments of the engine's function."""


def note_paths() -> bool:
    """Notes the paths of the tasks that the engine reports. False when this version of the engine has no such reports."""
    from langgraph.pregel import _loop as loop

    original = getattr(loop, "map_debug_checkpoint", None)
    if original is None or getattr(original, "_svc", False):
        return original is not None

    def with_paths(*given: Any, **named: Any) -> Iterator[Any]:
        session = current_session.get()
        if session is not None and len(given) > _TASKS_AT:
            if len(session.task_paths) > _PATHS_MAX:
                session.task_paths.clear()
            # Without the path of a task, its usual path is assumed.
            session.task_paths.update({task.id: task.path for task in given[_TASKS_AT] if hasattr(task, "path")})
        yield from original(*given, **named)

    with_paths._svc = True  # type: ignore[attr-defined]
    loop.map_debug_checkpoint = with_paths  # type: ignore[assignment]
    return True


def checkpoint_shape(report: dict[str, Any], parts: Parts, session: Session, *, wants_values: bool) -> Shape:
    """The shape of a report. Without `wants_values`, only what the Node process stores of it."""
    metadata = report["metadata"]
    deltas = metadata.get("counters_since_delta_snapshot") or {}
    values = report["values"]
    if not wants_values and not deltas and isinstance(values, dict):
        return {"j": _brief_report(report, session)}
    members: list[Any] = [
        ["config", {"j": _config(report["config"])}],
        ["parent_config", {"j": _config(report.get("parent_config"))}],
        ["metadata", {"j": metadata}],
        ["next", {"j": list(report["next"])}],
        ["paths", {"j": [path_of(session.task_paths.get(task["id"])) for task in report["tasks"]]}],
        ["tasks", {"a": [_task(task, parts, wants_values=wants_values) for task in report["tasks"]]}],
    ]
    if not isinstance(values, dict):
        shown = parts.value(values, "values") if wants_values else {"s": None}
        return {"o": [*members, ["values", shown]]}
    # Of the values that are not shown, the names count, and the values of delta channels, which checkpoints lack.
    shapes = [
        [key, parts.value(part, f"values.{key}") if wants_values or key in deltas else {"s": None}]
        for key, part in values.items()
    ]
    return {"o": [*members, ["values", {"o": shapes}]]}


def _brief_report(report: dict[str, Any], session: Session) -> dict[str, Any]:
    """What the Node process stores of a report."""
    paths = session.task_paths
    return {
        "config": _place(report["config"]),
        "parent_config": _place(report.get("parent_config")),
        "metadata": report["metadata"],
        "next": report["next"],
        "paths": [path_of(paths.get(task["id"])) for task in report["tasks"]],
        "tasks": [_brief_task(task) for task in report["tasks"]],
        "values": dict.fromkeys(report["values"]),
    }


def _brief_task(task: dict[str, Any]) -> dict[str, Any]:
    brief = {"id": task["id"], "name": task["name"], "interrupts": ()}
    state = task.get("state")
    # Without a subgraph there is none.
    return {**brief, "state": _config(state)} if isinstance(state, dict) else brief


def debug_shape(chunk: dict[str, Any], parts: Parts) -> Shape:
    """The shape of a chunk of stream mode `debug`."""
    payload = chunk["payload"]
    if chunk["type"] != "checkpoint":
        shape = shape_of(payload, parts, "debug", 1)
    else:
        members: list[Any] = []
        for key, part in payload.items():
            if key in ("config", "parent_config"):
                members.append([key, {"j": _config(part)}])
            elif key == "tasks":
                members.append([key, {"a": [_task(task, parts, wants_values=True) for task in part]}])
            else:
                members.append([key, shape_of(part, parts, key, 0)])
        shape = {"o": members}
    return {"o": [[key, shape if key == "payload" else {"j": part}] for key, part in chunk.items()]}


def _config(config: Any) -> Any:
    if not config:
        return None
    kept = {key: part for key, part in config.get("configurable", {}).items() if not key.startswith("__")}
    return {"configurable": kept}


def _place(config: Any) -> Any:
    """The config without what only clients read."""
    if not config:
        return None
    configurable = config.get("configurable", {})
    return {"configurable": {key: configurable[key] for key in _PLACE if key in configurable}}


def path_of(path: Any) -> Any:
    """The path of a task as JSON."""
    return [path_of(one) if isinstance(one, tuple) else one for one in path or ()]


def _task(task: dict[str, Any], parts: Parts, *, wants_values: bool) -> Shape:
    members: list[Any] = []
    for key, part in task.items():
        if key == "state":
            # Without a subgraph there is none.
            if isinstance(part, dict):
                members.append([key, {"j": _config(part)}])
        elif key == "interrupts":
            members.append([key, interrupts_shape(part, parts, key) if wants_values else {"a": []}])
        elif key in ("id", "name") or wants_values:
            members.append([key, shape_of(part, parts, key, 0)])
    return {"o": members}

"""The context of a run, as its graph takes it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from langgraph.pregel import Pregel


def context_for(graph: Pregel, context: Any) -> Any:
    """The context with the fields of the graph's context schema only: it also has what clients send in `configurable`."""
    schema = getattr(graph, "context_schema", None)
    if not isinstance(context, dict) or schema is None:
        return context
    fields = _fields_of(schema)
    return {name: value for name, value in context.items() if name in fields} if fields else context


@functools.lru_cache(maxsize=1024)
def _fields_of(schema: Any) -> frozenset[str]:
    """Fields of a dataclass, a pydantic model or a TypedDict; none for other types."""
    if dataclasses.is_dataclass(schema):
        return frozenset(field.name for field in dataclasses.fields(schema) if field.init)
    models = getattr(schema, "model_fields", None)
    if isinstance(models, dict):
        return frozenset(models) | {field.alias for field in models.values() if field.alias}
    return frozenset(getattr(schema, "__annotations__", ()))

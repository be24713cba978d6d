"""The context of a run, as its graph takes it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from langgraph.pregel import Pregel
from pydantic import BaseModel


def context_for(graph: Pregel, context: Any) -> Any:
    """The context without values that the graph's context schema refuses: it also has those that clients send in `configurable`."""
    schema = getattr(graph, "context_schema", None)
    if not isinstance(context, dict) or schema is None:
        return context
    fields = _fields_of(schema)
    return {name: value for name, value in context.items() if name in fields} if fields else context


@functools.lru_cache(maxsize=1024)
def _fields_of(schema: Any) -> frozenset[str]:
    """Fields of a dataclass, a TypedDict or a pydantic model; none for types that take any value."""
    if dataclasses.is_dataclass(schema):
        return frozenset(field.name for field in dataclasses.fields(schema) if field.init)
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        if schema.model_config.get("extra") != "forbid":
            return frozenset()
        aliases = (field.validation_alias for field in schema.model_fields.values())
        return frozenset(schema.model_fields) | {alias for alias in aliases if isinstance(alias, str)}
    return frozenset(getattr(schema, "__annotations__", ()))

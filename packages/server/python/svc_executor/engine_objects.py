"""Objects of the engine: what nodes send, commands, and documents. JavaScript graphs have the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from langgraph import types as engine_types
from langgraph.checkpoint.serde import types as serde_types
from langgraph.types import Command, Interrupt, Send
from pydantic import TypeAdapter

from .forms import Form, FormOf, Read

# Older versions of the engine lack these.
_OVERWRITE: type[Any] | None = getattr(engine_types, "Overwrite", None)
_DELTA: type[Any] | None = getattr(serde_types, "_DeltaSnapshot", None)


def _send_form(send: Send) -> Form:
    parts = {"node": send.node, "args": send.arg}
    timeout = getattr(send, "timeout", None)
    if timeout is not None:
        parts["timeout"] = timeout
    return {"$": "send", "py": 1}, parts


def _command_form(command: Command[Any]) -> Form:
    parts = {key: getattr(command, key) for key in ("graph", "update", "resume")}
    parts = {key: part for key, part in parts.items() if part is not None}
    if command.goto != ():
        parts["goto"] = command.goto
    return {"$": "command", "py": 1}, parts


def _interrupt_form(interrupt: Interrupt[Any]) -> Form:
    """An interrupt is plain data, because the server reads it; the saver restores the interrupts of a checkpoint."""
    schema = getattr(interrupt, "response_schema", None)
    if isinstance(schema, type):
        schema = TypeAdapter(schema).json_schema()
    return None, {"value": interrupt.value, "id": interrupt.id, "response_schema": schema}


def _document_form(document: Document) -> Form:
    parts: dict[str, Any] = {"pageContent": document.page_content, "metadata": document.metadata}
    if document.id is not None:
        parts["id"] = document.id
    return {"$": "document", "py": 1}, parts


def engine_form(cls: type[Any]) -> FormOf | None:
    """The form of a class of the engine; None for other classes."""
    if issubclass(cls, Send):
        return _send_form
    if issubclass(cls, Command):
        return _command_form
    if issubclass(cls, Interrupt):
        return _interrupt_form
    if _OVERWRITE is not None and issubclass(cls, _OVERWRITE):
        return lambda value: ({"$": "overwrite", "py": 1}, {"of": value.value})
    if _DELTA is not None and issubclass(cls, _DELTA):
        return lambda value: ({"$": "delta"}, {"of": value.value})
    if cls is Document:
        return _document_form
    store = sys.modules.get("langgraph.store.base")
    if store is not None and issubclass(cls, store.Item):
        # As the stock server prints it; a node gets a dict.
        return lambda item: (None, item.dict())
    return None


def _read_send(tree: dict[str, Any], value: Read) -> Send:
    """A task for a node. Its arguments may be absent in what JavaScript has stored."""
    more = {"timeout": value(tree["timeout"])} if tree.get("timeout") is not None else {}
    return Send(str(tree.get("node")), value(tree.get("args")), **more)


def _read_command(tree: dict[str, Any], value: Read) -> Command[Any]:
    return Command(**{key: value(tree[key]) for key in ("graph", "update", "resume", "goto") if key in tree})


def _read_document(tree: dict[str, Any], value: Read) -> Document:
    """A document, whose text has another name in JavaScript."""
    return Document(id=tree.get("id"), page_content=tree["pageContent"], metadata=value(tree.get("metadata", {})))


def _made(cls: type[Any] | None, of: Any) -> Any:
    """An object of the class; its plain value where the engine has no such class."""
    return of if cls is None else cls(of)


ENGINE_READERS: dict[str, Callable[[dict[str, Any], Read], Any]] = {
    "send": _read_send,
    "command": _read_command,
    "overwrite": lambda tree, value: _made(_OVERWRITE, value(tree["of"])),
    "delta": lambda tree, value: _made(_DELTA, value(tree["of"])),
    "document": _read_document,
}
"""By tag: reads an object of the engine, or a document."""

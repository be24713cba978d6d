"""Objects of the engine: what nodes send, commands, and documents. JavaScript graphs have the same."""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.documents import Document
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Command, Interrupt, Overwrite, Send
from pydantic import TypeAdapter

from .forms import Form, FormOf, Read


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
    if issubclass(cls, Overwrite):
        return lambda value: ({"$": "overwrite", "py": 1}, {"of": value.value})
    if issubclass(cls, _DeltaSnapshot):
        return lambda value: ({"$": "delta"}, {"of": value.value})
    if cls is Document:
        return _document_form
    store = sys.modules.get("langgraph.store.base")
    if store is not None and issubclass(cls, store.Item):
        # As the stock server prints it; a node gets a dict.
        return lambda item: (None, item.dict())
    return None


def read_send(parts: dict[str, Any]) -> Send:
    """A task for a node. Its arguments may be absent in what JavaScript has stored."""
    timeout = parts.get("timeout")
    more = {} if timeout is None else {"timeout": timeout}
    return Send(str(parts.get("node")), parts.get("args"), **more)


def read_command(parts: dict[str, Any]) -> Command[Any]:
    """A command of a node."""
    return Command(**{key: parts[key] for key in ("graph", "update", "resume", "goto") if key in parts})


def read_document(parts: dict[str, Any]) -> Document:
    """A document, whose text has another name in JavaScript."""
    return Document(id=parts.get("id"), page_content=parts["pageContent"], metadata=parts.get("metadata", {}))


def read_engine_object(tree: dict[str, Any], value: Read) -> Any:
    """An object of the engine; None when the tag is not one of these."""
    match tree["$"]:
        case "overwrite":
            return Overwrite(value(tree["of"]))
        case "delta":
            return _DeltaSnapshot(value(tree["of"]))
        case "send":
            return read_send(_parts(tree, value))
        case "command":
            return read_command(_parts(tree, value))
        case "document":
            return read_document(_parts(tree, value))
        case _:
            return None


def _parts(tree: dict[str, Any], value: Read) -> dict[str, Any]:
    return {key: value(part) for key, part in tree.items() if key not in ("$", "py")}

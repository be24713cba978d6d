"""Messages of LangChain, in the form that JavaScript graphs store as well: {"$":"ai","content":…}.

The key "py" marks a message that Python made: clients get it as the stock Python server prints it. Its value is 1, or [module, name] for a
subclass of the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core import messages as core

from .forms import Form, FormOf, Read
from .pydantic_objects import Defaults, restored

if TYPE_CHECKING:
    from .allowlist import Allowlist

_CLASSES: dict[str, type[core.BaseMessage]] = {
    "human": core.HumanMessage,
    "human_chunk": core.HumanMessageChunk,
    "ai": core.AIMessage,
    "ai_chunk": core.AIMessageChunk,
    "system": core.SystemMessage,
    "system_chunk": core.SystemMessageChunk,
    "tool": core.ToolMessage,
    "tool_chunk": core.ToolMessageChunk,
    "function": core.FunctionMessage,
    "function_chunk": core.FunctionMessageChunk,
    "generic": core.ChatMessage,
    "generic_chunk": core.ChatMessageChunk,
    "remove": core.RemoveMessage,
}
_TAGS = {cls: tag for tag, cls in _CLASSES.items()}

# Fields that a JavaScript message declares as well. Others are its own properties there, as what a caller has added.
_SHARED = frozenset(
    {
        "content",
        "id",
        "name",
        "additional_kwargs",
        "response_metadata",
        "tool_calls",
        "invalid_tool_calls",
        "tool_call_chunks",
        "usage_metadata",
        "tool_call_id",
        "status",
        "artifact",
        "role",
    }
)


def message_form(cls: type[core.BaseMessage]) -> FormOf | None:
    """The function that makes the stored form of the messages of a class. None for messages of a type of their own."""
    base = next((parent for parent in cls.__mro__ if parent in _TAGS), None)
    if base is None:
        return None
    head = {"$": _TAGS[base], "py": 1 if base is cls else [cls.__module__, cls.__qualname__]}
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in base.model_fields.items()
        if not field.is_required() and name != "content"
    }
    absent = object()

    def form(message: Any) -> Form:
        parts: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for name, part in message.__dict__.items():
            if name == "type" or part is None:
                continue
            # Only empty containers and texts are compared: comparing an artifact may be expensive, or raise.
            if not part and (part == "" or type(part) in (dict, list)) and part == defaults.get(name, absent):
                continue
            if name == "status" and part == "success":
                continue
            (parts if name in _SHARED else own)[name] = part
        if message.__pydantic_extra__:
            own |= message.__pydantic_extra__
        if own:
            parts["own"] = own
        return head, parts

    return form


def is_message_tag(tag: str) -> bool:
    """True for the tags of messages."""
    return tag in _CLASSES


def read_message(tree: dict[str, Any], value: Read, allowed: Allowlist) -> core.BaseMessage:
    """The message of a tree. No `__init__` runs and nothing is validated or derived: it gets its fields as they were stored."""
    cls = _CLASSES[tree["$"]]
    made = tree.get("py")
    if type(made) is list:
        found = allowed.find(str(made[0]), str(made[1]))
        if found is not None and issubclass(found, cls):
            cls = found
    fields = Defaults.of(cls).fields()
    extra: dict[str, Any] = {}
    for key, part in tree.items():
        if key in _SHARED:
            (fields if key in fields else extra)[key] = value(part) if type(part) is dict or type(part) is list else part
        elif key == "own" or key == "kwargs":
            for name, own in value(part).items():
                (fields if name in fields and name != "type" else extra)[name] = own
    return restored(cls, fields, extra)

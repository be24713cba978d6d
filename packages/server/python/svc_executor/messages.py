"""Messages of LangChain, in the form that JavaScript graphs store as well: {"$":"ai","content":…}.

The key "py" marks a message that Python made: clients get it as the stock Python server prints it. Its value is 1, or [module, name] for a
subclass of the project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from langchain_core import messages as core
from pydantic import BaseModel

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

Form = tuple[dict[str, Any] | None, Any]


def message_form(cls: type[core.BaseMessage]) -> Callable[[Any], Form] | None:
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


def read_message(tree: dict[str, Any], value: Callable[[Any], Any], allowed: Allowlist) -> core.BaseMessage:
    """The message of a tree. No `__init__` runs and nothing is validated or derived: it gets its fields as they were stored."""
    cls = _CLASSES[tree["$"]]
    made = tree.get("py")
    if type(made) is list:
        found = allowed.find(str(made[0]), str(made[1]))
        if found is not None and issubclass(found, cls):
            cls = found
    defaults = _defaults.get(cls) or _defaults.setdefault(cls, Defaults(cls))
    fields = defaults.fields()
    extra: dict[str, Any] = {}
    for key, part in tree.items():
        if key in _SHARED:
            (fields if key in fields else extra)[key] = value(part) if type(part) is dict or type(part) is list else part
        elif key == "own" or key == "kwargs":
            for name, own in value(part).items():
                (fields if name in fields and name != "type" else extra)[name] = own
    return restored(cls, fields, extra)


class Defaults:
    """What a new object of a pydantic model has."""

    def __init__(self, cls: type[BaseModel]) -> None:
        self.names = tuple(cls.model_fields)
        self._constants: dict[str, Any] = {}
        self._factories: list[tuple[str, Callable[[], Any]]] = []
        for name, field in cls.model_fields.items():
            factory = field.default_factory
            if factory is None:
                self._constants[name] = None if field.is_required() else field.default
            else:
                self._constants[name] = None
                self._factories.append((name, cast("Callable[[], Any]", factory)))

    def fields(self) -> dict[str, Any]:
        """The fields of a new object, in the order of the class. Required ones are None."""
        fields = self._constants.copy()
        for name, factory in self._factories:
            fields[name] = factory()
        return fields


_defaults: dict[type[BaseModel], Defaults] = {}

_set_attribute = object.__setattr__


def restored(cls: type[Any], fields: dict[str, Any], extra: dict[str, Any] | None) -> Any:
    """An object of a pydantic model with these fields, which are not validated."""
    model = cls.__new__(cls)
    _set_attribute(model, "__dict__", fields)
    _set_attribute(model, "__pydantic_fields_set__", set(fields))
    _set_attribute(model, "__pydantic_extra__", extra)
    _set_attribute(model, "__pydantic_private__", None)
    return model

"""Stream mode `messages`: messages while they grow.

Events: `messages/metadata` once per message of a model, `messages/partial` with the message so far at every token, `messages/complete` for
messages that no model has streamed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message

Emit = Callable[[str, Any], None]


class MessageEvents:
    """The messages of one run."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._partial: dict[str, BaseMessage] = {}
        self._complete: set[str] = set()
        self._has_begun = False

    def token(self, message: BaseMessage, metadata: Any) -> None:
        """Takes a token of a model, or a message that a node has returned."""
        key = message.id
        if key is None or key in self._complete:
            return
        before = self._partial.get(key)
        if before is None:
            self._emit("messages/metadata", {key: {"metadata": metadata}})
        grows = isinstance(before, BaseMessageChunk) and isinstance(message, BaseMessageChunk)
        grown = before + message if grows else message
        if not isinstance(grown, BaseMessageChunk):
            self._complete.add(key)
            self._partial.pop(key, None)
            self._emit("messages/complete", [grown])
            return
        self._partial[key] = grown
        self._emit("messages/partial", [message_chunk_to_message(grown)])

    def values(self, state: Any) -> None:
        """Takes a state: all messages in it are complete. Sent are those that were neither there before the run nor streamed."""
        messages = state.get("messages") if isinstance(state, dict) else None
        if not isinstance(messages, list):
            return
        fresh = [one for one in messages if isinstance(one, BaseMessage) and one.id and one.id not in self._complete]
        self._complete.update(str(message.id) for message in fresh)
        unseen = [message for message in fresh if self._partial.pop(str(message.id), None) is None]
        if unseen and self._has_begun:
            self._emit("messages/complete", unseen)
        self._has_begun = True

"""The values of channels that both processes know, so that an unchanged value is not sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .allowlist import Allowlist
from .parts import Parts
from .values import decode

Spec = int | None
"""How a value is sent: as the part with this index, or not at all because the Node process has it."""


class ChannelValues:
    """Values by namespace and channel."""

    def __init__(self, allowed: Allowlist) -> None:
        self._allowed = allowed
        self._known: set[tuple[str, str]] = set()

    def spec(self, ns: str, channel: str, value: Any, parts: Parts, *, is_new: bool = True) -> Spec:
        """Adds a value to a frame. `is_new`: it may differ from the last one of this channel."""
        key = (ns, channel)
        if not is_new and key in self._known:
            return None
        self._known.add(key)
        return parts.value(value, f"values.{channel}")

    def read(self, ns: str, specs: Mapping[str, int], parts: Sequence[bytes]) -> dict[str, Any]:
        """The values of a checkpoint that was read."""
        self._known.update((ns, channel) for channel in specs)
        return {channel: decode(parts[at], self._allowed) for channel, at in specs.items()}

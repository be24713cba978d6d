"""The error of a value that cannot be stored."""

from __future__ import annotations

_KEYS_MAX = 8
_KEY_CHARS_MAX = 60


class Step:
    """A level of a tree that is no key of the value, such as the fields of an object. It is not shown in paths."""


class ValueRefused(ValueError):
    """A value cannot be stored. The message begins with the path of the part: `value.items[3].client`."""

    def __init__(self, reason: str, cycle: tuple[int, int] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self._keys: list[object] = []
        self._cycle = cycle

    def within(self, key: object) -> ValueRefused:
        """Adds a key to the path. Called from the innermost container to the outermost."""
        self._keys.append(key)
        return self

    def message(self, name: str) -> str:
        """The message; `name` is what the path begins with."""
        keys = self._keys[::-1]
        if self._cycle is None:
            return f"{path_text(name, keys)} {self.reason}"
        first, again = self._cycle
        return f"{path_text(name, keys[:again])} refers back to {path_text(name, keys[:first])}: {self.reason}"

    def __str__(self) -> str:
        return self.message("value")


def path_text(name: str, keys: list[object]) -> str:
    """A path in Python notation. Of a long path, the beginning is shown."""
    text = name
    shown = [key for key in keys if not isinstance(key, Step)]
    for key in shown[:_KEYS_MAX]:
        text += f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{_key_text(key)}]"
    return text if len(shown) <= _KEYS_MAX else f"{text}…"


def _key_text(key: object) -> str:
    text = repr(key)
    return text if len(text) <= _KEY_CHARS_MAX else f"{text[:_KEY_CHARS_MAX]}…"

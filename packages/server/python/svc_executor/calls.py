"""Calls functions of the project, which may be synchronous or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


async def result_of(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The result of a call. A function that is no coroutine is called in a thread, since it may wait for other services."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments, **named)
    result = await asyncio.to_thread(function, *arguments, **named)
    return await result if inspect.isawaitable(result) else result

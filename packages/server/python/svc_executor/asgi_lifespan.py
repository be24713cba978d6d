"""The lifespan of an app: what it does before its first request and after its last one."""

from __future__ import annotations

import asyncio
from typing import Any

from .failures import ProjectMistake, first_error, stack_of
from .own_server import lifespan_task


class Lifespan:
    """Runs the lifespan of an ASGI app in a task."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.state: dict[str, Any] = {}

    async def start(self) -> None:
        """Waits for the end of the startup. Raises ProjectMistake when it fails."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        answer = await self._ask("lifespan.startup")
        if answer["type"] != "lifespan.startup.complete":
            raise ProjectMistake(f"the lifespan of the app has failed: {answer.get('message', '')}")

    async def stop(self) -> None:
        """Waits for the end of the shutdown."""
        if self._task is not None and not self._task.done():
            await self._ask("lifespan.shutdown")

    async def _ask(self, kind: str) -> dict[str, Any]:
        self._inbox.put_nowait({"type": kind})
        return await self._answers.get()

    async def _run(self) -> None:
        lifespan_task.set(asyncio.current_task())
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        try:
            await self._app(scope, self._inbox.get, self._answers.put)
        except BaseException as error:
            message = stack_of(first_error(error))
            self._answers.put_nowait({"type": "lifespan.startup.failed", "message": message})

"""The program of a Python process of svc: `python -m svc_executor`, with its channel on descriptor 3.

    started ──setup──▶ ready ──frames──▶ the channel is closed: it ends
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import time
import traceback
from typing import Any

from .channel import Channel, Handler, open_socket
from .frames import PROTOCOL_VERSION, Header
from .failures import ProjectMistake
from .lifetime import end_with_parent, ignore_signals
from .loaded_files import LoadedFiles

# What a process works on: the module has `async def start(setup, channel) -> (facts, handler)`.
WORK = {"graphs": "svc_executor.executor", "auth": "svc_executor.auth", "app": "svc_executor.asgi", "embeddings": "svc_executor.embeddings"}

PYTHON_MIN = (3, 11)


class Process:
    """The work of the process, which the first frame names."""

    def __init__(self) -> None:
        self._channel: Channel | None = None
        self._handler: Handler | None = None

    async def run(self) -> None:
        """Serves frames until the channel is closed."""
        own = open_socket()
        end_with_parent(own)
        loop = asyncio.get_running_loop()
        _, self._channel = await loop.create_connection(lambda: Channel(self._receive, lambda: os._exit(0)), sock=own)
        await asyncio.Event().wait()

    async def _receive(self, header: Header, parts: list[bytes]) -> Any:
        kind = header["kind"]
        if kind == "setup":
            return await self._set_up(header)
        if kind == "ping":
            return {"cpu_ms": time.thread_time() * 1000}
        if self._handler is None:
            raise RuntimeError(f"a frame of kind {kind} before setup")
        return await self._handler(header, parts)

    async def _set_up(self, setup: Header) -> None:
        assert self._channel is not None
        try:
            if setup["protocol"] != PROTOCOL_VERSION:
                raise RuntimeError(f"svc speaks protocol {setup['protocol']}, and its Python package {PROTOCOL_VERSION}")
            if sys.version_info < PYTHON_MIN:
                raise RuntimeError(f"Python {sys.version.split()[0]} is too old: svc needs 3.11 or newer")
            # After the standard library, so that no module of the project replaces one of it.
            sys.path.extend(path for path in setup.get("paths", ()) if path not in sys.path)
            facts, self._handler = await importlib.import_module(WORK[setup["work"]]).start(setup, self._channel)
        except (Exception, SystemExit) as error:
            is_mistake = isinstance(error, ProjectMistake)
            message = str(error) if is_mistake else "".join(traceback.format_exception(error)).rstrip()
            files = LoadedFiles(setup.get("paths", ()))
            files.add_failure(error)
            self._channel.send({"kind": "error", "message": message, "files": files.take()})
            return
        self._channel.send({"kind": "ready", "protocol": PROTOCOL_VERSION, "python": sys.version.split()[0], **facts})


def main() -> None:
    """Runs the process."""
    ignore_signals()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        work = loop.create_task(Process().run())
        while not work.done():
            try:
                loop.run_until_complete(work)
            except (SystemExit, KeyboardInterrupt):
                # A task of a node has raised it, which stops the loop. Its run ends with the error, and the loop goes on.
                continue


if __name__ == "__main__":
    main()

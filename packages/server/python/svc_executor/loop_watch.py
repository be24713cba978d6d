"""Notices that a node blocks the event loop: it computes, or waits synchronously, inside of an async function. All runs of the process wait then."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback

from .failures import is_of_project

_BEAT_SECONDS = 0.25
_BLOCKED_SECONDS = 2.0


class LoopWatch:
    """Watches the loop while work is in progress, and prints where it is blocked, once for each time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._working = 0
        self._is_needed = threading.Event()
        self._beat = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._has_started = False

    def begin(self) -> None:
        """A run begins."""
        self._working += 1
        if self._working > 1:
            return
        self._on_beat()
        self._is_needed.set()
        if not self._has_started:
            self._has_started = True
            threading.Thread(target=self._watch, name="svc-loop-watch", daemon=True).start()

    def end(self) -> None:
        """A run has ended."""
        self._working -= 1
        if self._working > 0:
            return
        self._is_needed.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _on_beat(self) -> None:
        self._beat = time.monotonic()
        self._timer = self._loop.call_later(_BEAT_SECONDS, self._on_beat)

    def _watch(self) -> None:
        pid = os.getpid()
        reported = 0.0
        while os.getpid() == pid:
            self._is_needed.wait()
            time.sleep(_BLOCKED_SECONDS / 2)
            beat = self._beat
            late = time.monotonic() - beat
            if late < _BLOCKED_SECONDS or beat == reported or not self._is_needed.is_set():
                continue
            reported = beat
            # Not by the logger, whose records wait for the loop.
            print(f"the event loop is blocked for {late:.1f} s {self._place()}", file=sys.stderr, flush=True)

    def _place(self) -> str:
        frame = sys._current_frames().get(self._thread)
        stack = traceback.extract_stack(frame) if frame else []
        own = [entry for entry in stack if is_of_project(entry.filename)]
        if not own:
            return "in a library"
        last = own[-1]
        return f"at {last.filename}:{last.lineno} in {last.name}: {last.line}. Await an asynchronous call, or make the node a plain function"

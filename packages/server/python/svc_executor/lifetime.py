"""Ends this process with the Node process that has started it, whatever the event loop does, and keeps forks off the channel."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import threading

_PR_SET_PDEATHSIG = 1
_POLL_MS = 1_000


def end_with_parent(channel: socket.socket) -> None:
    """Ends the process when the other end of the channel is closed. A node that blocks the event loop does not delay it."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        except (OSError, AttributeError):
            pass  # The thread below notices it as well.
    fd = channel.fileno()
    os.register_at_fork(after_in_child=lambda: os.close(fd))
    if hasattr(select, "poll"):
        threading.Thread(target=_watch, args=(fd, os.getpid()), name="svc-channel", daemon=True).start()


def _watch(fd: int, pid: int) -> None:
    closed = select.poll()
    # Without events, only that the other end was closed is reported.
    closed.register(fd, 0)
    while os.getpid() == pid:
        if closed.poll(_POLL_MS):
            os._exit(0)


def ignore_signals() -> None:
    """A Ctrl-C in the terminal reaches all processes of its group. The Node process decides when this one ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)

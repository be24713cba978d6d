"""The checkpointer of graphs: the Node process stores and reads checkpoints."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.types import Interrupt

from .frames import Header
from .parts import Parts
from .session import Session
from .shapes import interrupts_shape
from .values import decode

if TYPE_CHECKING:
    # Older versions of the engine lack it.
    from langgraph.checkpoint.base import DeltaChannelHistory

_WAIT_BYTES = 1024 * 1024
"""A put of more bytes waits for the Node process, so that it does not collect them."""


class SvcSaver(BaseCheckpointSaver[int]):
    """The checkpointer of one run, update or read, bound to its thread.

    `waits`: a put or a write is stored when the call returns (durability `sync`). `is_blank`: nothing is stored for the thread yet.
    """

    def __init__(self, session: Session, *, waits: bool = False, is_blank: bool = False) -> None:
        super().__init__()
        self._session = session
        self._waits = waits
        self._is_blank = is_blank
        self._namespaces: set[str] = set()
        self._sent: set[tuple[str, str]] = set()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        conf = config["configurable"]
        ns = conf.get("checkpoint_ns", "")
        if self._is_blank and ns not in self._namespaces:
            return None
        place = {**_place(conf), "map": conf.get("checkpoint_map"), "resuming": conf.get("__pregel_resuming")}
        header, parts = await self._session.call({"kind": "get", **place})
        # In an attempt that continues, a subgraph with a memory of its own that has not begun takes its input.
        if header.get("resuming") is False:
            conf["__pregel_resuming"] = False
        found = header.get("tuple")
        return self._tuple(found, parts) if found else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        conf = (config or {}).get("configurable", {})
        options = {"filter": filter, "limit": limit, "before": (before or {}).get("configurable", {}).get("checkpoint_id")}
        # Without a namespace, checkpoints of all namespaces are listed.
        place = {"ns": conf.get("checkpoint_ns"), "thread": conf.get("thread_id")}
        header, parts = await self._session.call({"kind": "list", **place, **options})
        for found in header["tuples"]:
            yield self._tuple(found, parts)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        if not channels:
            return {}
        conf = config["configurable"]
        if self._is_blank and conf.get("checkpoint_ns", "") not in self._namespaces:
            return {channel: {"writes": []} for channel in channels}
        header, parts = await self._session.call({"kind": "deltas", **_place(conf), "channels": list(channels)})
        return {channel: self._history(channel, found, parts) for channel, found in header["channels"].items()}

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        conf = config["configurable"]
        ns = conf.get("checkpoint_ns", "")
        parts = Parts()
        values: dict[str, Any] = {}
        for channel, value in checkpoint["channel_values"].items():
            # None: the Node process has the value of this version.
            is_known = channel not in new_versions and (ns, channel) in self._sent
            values[channel] = None if is_known else self._session.describe((ns, channel), value, parts, f"values.{channel}")
            self._sent.add((ns, channel))
        body = {key: part for key, part in checkpoint.items() if key != "channel_values" and (part or key != "pending_sends")}
        self._namespaces.add(ns)
        await self._deliver({"kind": "put", **_place(conf), "checkpoint": body, "metadata": metadata, "values": values}, parts)
        return {"configurable": {**conf, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        parts = Parts()
        shapes = [[channel, _write_shape(channel, value, parts)] for channel, value in writes]
        place = _place(config["configurable"])
        await self._deliver({"kind": "writes", **place, "writes": shapes, "task": task_id, "path": task_path}, parts)

    async def adelete_thread(self, thread_id: str) -> None:
        await self._session.call({"kind": "delete", "thread": thread_id})

    # A graph that a synchronous node calls: on a thread of the pool.

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._session.from_thread(self.aget_tuple(config))

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        yield from self._session.from_thread(self._listed(config, options))

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        return self._session.from_thread(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._session.from_thread(self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._session.from_thread(self.adelete_thread(thread_id))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self._session.from_thread(self.aget_delta_channel_history(config=config, channels=channels))

    def with_allowlist(self, extra_allowlist: Any) -> SvcSaver:
        self._session.allowed.add(extra_allowlist)
        return self

    async def _listed(self, config: RunnableConfig | None, options: dict[str, Any]) -> Sequence[CheckpointTuple]:
        return [found async for found in self.alist(config, **options)]

    async def _deliver(self, header: Header, parts: Parts) -> None:
        if self._waits or parts.size > _WAIT_BYTES:
            await self._session.call(header, parts)
        else:
            self._session.send(header, parts)

    def _tuple(self, found: dict[str, Any], parts: list[bytes]) -> CheckpointTuple:
        ns, thread = found["ns"], found["thread"]
        values = {
            channel: self._session.values.read((ns, channel), spec, parts) for channel, spec in found["values"].items()
        }
        self._sent.update((ns, channel) for channel in values)
        writes = [(task, channel, self._written(channel, parts[at])) for task, channel, at in found["writes"]]
        parent = found.get("parent")
        return CheckpointTuple(
            _config(thread, ns, found["id"]),
            {**found["checkpoint"], "channel_values": values},
            found["metadata"],
            _config(thread, ns, parent) if parent else None,
            writes,
        )

    def _written(self, channel: str, text: bytes) -> Any:
        value = decode(text, self._session.allowed)
        if channel != "__interrupt__":
            return value
        if isinstance(value, list):
            return [_interrupt(one) for one in value]
        return [_interrupt(value)] if _is_interrupt(value) else value

    def _history(self, channel: str, found: dict[str, Any], parts: Sequence[bytes]) -> DeltaChannelHistory:
        allowed = self._session.allowed
        history: DeltaChannelHistory = {
            "writes": [(task, channel, decode(parts[at], allowed)) for task, at in found["writes"]]
        }
        if "seed" in found:
            history["seed"] = decode(parts[found["seed"]], allowed)
        return history


# The engine reads the signature in every run, which costs more than a put: found here, it is not derived again.
SvcSaver.aput_writes.__signature__ = inspect.signature(SvcSaver.aput_writes)  # type: ignore[attr-defined]


class EphemeralSaver(BaseCheckpointSaver[int]):
    """The checkpointer of stateless runs: the graph can interrupt and stream checkpoints, but nothing is stored."""

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return None

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        return iter(())

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}

    def put_writes(self, config: RunnableConfig, writes: Any, task_id: str, task_path: str = "") -> None:
        return None

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return None

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        for none in ():
            yield none

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: RunnableConfig, writes: Any, task_id: str, task_path: str = "") -> None:
        return None


def _place(conf: Mapping[str, Any]) -> Header:
    return {"thread": conf.get("thread_id"), "ns": conf.get("checkpoint_ns", ""), "id": conf.get("checkpoint_id")}


def _config(thread: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _write_shape(channel: str, value: Any, parts: Parts) -> Any:
    if channel == "__interrupt__":
        return interrupts_shape(value, parts, channel)
    return parts.value(value, channel)


def _is_interrupt(value: Any) -> bool:
    return isinstance(value, dict) and "value" in value


def _interrupt(value: Any) -> Any:
    if not _is_interrupt(value):
        return value
    known = {key: part for key, part in value.items() if key in ("value", "id", "response_schema")}
    return Interrupt(**known)

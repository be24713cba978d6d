"""The store of graphs: the same long-term store that clients use over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from .session import Session


class SvcStore(BaseStore):
    """The store of one run. Values of items are JSON, as over HTTP."""

    supports_ttl = False

    def __init__(self, session: Session) -> None:
        self._session = session

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._session.from_thread(self.abatch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        header, _ = await self._session.call({"kind": "store", "operations": [_operation(op) for op in asked]})
        return [_result(op, found) for op, found in zip(asked, header["results"], strict=True)]


def _operation(op: Op) -> dict[str, Any]:
    if isinstance(op, GetOp):
        return {"namespace": op.namespace, "key": op.key}
    if isinstance(op, PutOp):
        index = {} if op.index is None else {"index": op.index}
        return {"namespace": op.namespace, "key": op.key, "value": _json(op), **index}
    if isinstance(op, SearchOp):
        more = {"filter": op.filter, "query": op.query}
        given = {key: part for key, part in more.items() if part is not None}
        return {"namespacePrefix": op.namespace_prefix, "limit": op.limit, "offset": op.offset, **given}
    if not isinstance(op, ListNamespacesOp):
        raise TypeError(f"{type(op).__name__} is no operation of the store")
    matches = [{"matchType": one.match_type, "path": one.path} for one in op.match_conditions or ()]
    depth = {} if op.max_depth is None else {"maxDepth": op.max_depth}
    return {"matchConditions": matches, "limit": op.limit, "offset": op.offset, **depth}


def _json(op: PutOp) -> Any:
    if op.value is None:
        return None
    try:
        return orjson.loads(orjson.dumps(op.value))
    except TypeError as error:
        raise TypeError(f"the item {op.key!r} cannot be stored: its value is not JSON ({error})") from None


def _result(op: Op, found: Any) -> Result:
    if found is None:
        return None
    if isinstance(op, GetOp):
        return Item(**_item(found))
    if isinstance(op, SearchOp):
        return [SearchItem(**_item(one), score=one.get("score")) for one in found]
    return [tuple(namespace) for namespace in found]


def _item(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(found["namespace"]),
        "key": found["key"],
        "value": found["value"],
        "created_at": datetime.fromisoformat(found["createdAt"]),
        "updated_at": datetime.fromisoformat(found["updatedAt"]),
    }

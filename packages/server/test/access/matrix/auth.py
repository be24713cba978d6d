"""A user who chooses the results of the handlers: `Authorization: Bearer <event>=<action>`."""

import asyncio
import re

from langgraph_sdk import Auth

OWNER = "matrix"

auth = Auth()


def fail():
    raise ValueError("a secret of the handler")


def refuse():
    raise Auth.exceptions.HTTPException(418, "a teapot", {"x-pot": "tea"})


def break_value(value):
    for key in list(value):
        value[key] = {"toJSON": 1}
    return True


def drop(value):
    value.clear()
    value.update(metadata="text", key="", limit=-1, thread_id="no id")
    return True


async def later(result):
    await asyncio.sleep(0)
    return result() if callable(result) else result


ACTIONS = {
    "true": lambda value: True,
    "everything": lambda value: {},
    "later": lambda value: later(True),
    "false": lambda value: False,
    "filter": lambda value: {"owner": "somebody else"},
    "own": lambda value: {"owner": OWNER},
    "nothing": lambda value: None,
    "null": lambda value: None,
    "throw": lambda value: fail(),
    "reject": lambda value: later(fail),
    "refuse": lambda value: refuse(),
    "hang": lambda value: asyncio.Event().wait(),
    "number": lambda value: 42,
    "text": lambda value: "owner",
    "list": lambda value: [],
    "undefined": lambda value: {"owner": None},
    "operator": lambda value: {"owner": {"$ne": "x"}},
    "function": lambda value: fail,
    # After these the payload no longer fits the event.
    "break": break_value,
    "drop": drop,
}


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> dict:
    found = re.fullmatch(r"Bearer (\S+)=(\w+)", headers.get(b"authorization", b"").decode())
    event, action = found.groups() if found else ("", "")
    return {"identity": OWNER, "when": event, "action": action}


@auth.on
async def decide(ctx: Auth.types.AuthContext, value: dict):
    if ctx.action in ("create", "create_run"):
        value["metadata"] = {**value["metadata"], "owner": OWNER}
    if f"{ctx.resource}:{ctx.action}" != ctx.user["when"]:
        return True
    result = ACTIONS[ctx.user.action](value)
    return await result if asyncio.iscoroutine(result) else result

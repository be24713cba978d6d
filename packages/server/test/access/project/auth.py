"""Users by name: `Authorization: Bearer alice`. Each has their own threads, assistants, crons and namespaces."""

import re

from langgraph_sdk import Auth
from langgraph_sdk.auth import is_studio_user

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> dict:
    found = re.fullmatch(r"Bearer (\w+)", authorization or "")
    if not found:
        raise Auth.exceptions.HTTPException(401, "Who are you?", {"WWW-Authenticate": "Bearer"})
    name = found[1]
    return {"identity": name, "permissions": ["chat"], "token": f"secret-of-{name}"}


@auth.on
async def owned(ctx: Auth.types.AuthContext, value: dict) -> dict:
    if is_studio_user(ctx.user):
        return {}
    # Not for searches, where metadata would narrow the search: the filter alone must hide objects.
    if ctx.action in ("create", "update", "create_run"):
        value["metadata"] = {**(value.get("metadata") or {}), "owner": ctx.user.identity}
    return {"owner": ctx.user.identity}


@auth.on.store
async def own_namespace(ctx: Auth.types.AuthContext, value: dict) -> dict:
    return {} if is_studio_user(ctx.user) else {"namespace": {"$contains": ctx.user.identity}}

"""The routes of an app of Starlette or FastAPI, and the route behind them that leads to the built-in routes of the server."""

from __future__ import annotations

from typing import Any

from starlette.routing import BaseRoute, Host, Match, Mount, NoMatchFound, Route, WebSocketRoute

from .frames import Header


class BuiltInRoutes(BaseRoute):
    """Matches every HTTP request."""

    def matches(self, scope: Any) -> tuple[Match, Any]:
        return (Match.FULL, {}) if scope["type"] == "http" else (Match.NONE, {})

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        await scope["svc.exchange"].serve_inner(scope, receive, send)


def routes_of(app: Any) -> Header:
    """The paths that the app serves, with their methods; `middleware`: it has middleware, which sees the requests of all routes."""
    routes: list[Header] = []
    sockets: list[str] = []
    for route in app.router.routes:
        if isinstance(route, WebSocketRoute):
            sockets.append(route.path)
        elif isinstance(route, Route):
            routes.append({"path": route.path, "methods": sorted(route.methods) if route.methods else None})
        elif isinstance(route, (Mount, Host)):
            path = route.path if isinstance(route, Mount) else ""
            routes.extend({"path": each, "methods": None} for each in (path, f"{path}/{{path:path}}") if each)
        else:
            path = getattr(route, "path", None)
            if isinstance(path, str):
                methods = getattr(route, "methods", None)
                routes.append({"path": path, "methods": sorted(methods) if methods else None})
    return {"routes": routes, "sockets": sockets, "middleware": bool(app.user_middleware)}

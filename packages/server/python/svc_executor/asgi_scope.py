"""The scope of an HTTP request, as ASGI describes it."""

from __future__ import annotations

from typing import Any

Scope = dict[str, Any]


def http_scope(given: dict[str, Any]) -> Scope:
    """Of a request as the Node process sends it: method, path, raw_path, query, headers, path_params, scheme, host and port."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": given["scheme"],
        "server": (given["host"], given["port"]),
        "client": None,
        "root_path": "",
        "method": given["method"],
        "path": given["path"],
        "raw_path": given["raw_path"].encode("latin-1"),
        "query_string": given["query"].encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given["headers"]],
        "path_params": given["path_params"],
        "state": {},
    }

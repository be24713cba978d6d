"""Hooks of Schemathesis (schemathesis.slow.test.ts)."""

import schemathesis


@schemathesis.hook
def map_body(context, body):
    """A run with a long delay would begin, and the response that waits for it would end, after the test."""
    if isinstance(body, dict) and isinstance(body.get("after_seconds"), (int, float)):
        return {**body, "after_seconds": min(body["after_seconds"], 1)}
    return body

"""A graph that cannot be imported, after it has started an event loop of its own."""

import asyncio

asyncio.run(asyncio.sleep(0))

import no_such_package  # noqa: E402

graph = no_such_package.graph

"""Reads one run of the graph "team" with the thread streams of the Python clients, over each transport, and with RemoteGraph.

Arguments: the URL, and the seconds after which the program ends. Prints what each of them has read, as a JSON object.
"""

import asyncio
import faulthandler
import json
import sys
from collections.abc import AsyncIterable
from typing import Any

from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client

HI = {"messages": [{"role": "user", "content": "hi"}]}


async def items(of: AsyncIterable[Any]) -> list[Any]:
    return [item async for item in of]


# The parts of a message, a call or a subgraph arrive while its projection is iterated.


async def texts(messages: AsyncIterable[Any]) -> list[str]:
    return [await message.text for message in await items(messages)]


async def calls(of: AsyncIterable[Any]) -> list[Any]:
    return [[call.name, call.input, (await call.output)["content"]] for call in await items(of)]


async def subgraphs(of: AsyncIterable[Any]) -> list[Any]:
    return [[one.graph_name, await texts(one.messages), one.status] for one in await items(of)]


async def custom(events: AsyncIterable[Any]) -> list[Any]:
    return [event["params"]["data"] async for event in events]


async def thread(client: Any, transport: str) -> dict[str, Any]:
    async with client.threads.stream(assistant_id="team", transport=transport) as stream:
        reading = asyncio.gather(
            texts(stream.messages),
            calls(stream.tool_calls),
            subgraphs(stream.subgraphs),
            items(stream.extensions["progress"]),
            custom(stream.subscribe(["custom"])),
        )
        await stream.run.start(input=HI)
        names = ("messages", "tool_calls", "subgraphs", "progress", "custom")
        return dict(zip(names, await reading, strict=True))


async def remote(client: Any) -> list[str]:
    graph = RemoteGraph("team", client=client)
    async with await graph.astream_events(HI, version="v3") as run:
        return await texts(run.messages)


async def main(url: str) -> None:
    client = get_client(url=url, api_key=None)
    read = {
        "sse": await thread(client, "sse"),
        "websocket": await thread(client, "websocket"),
        "remote": await remote(client),
    }
    json.dump(read, sys.stdout)


# Shows where a call waits that does not return.
faulthandler.dump_traceback_later(float(sys.argv[2]), exit=True)
asyncio.run(main(sys.argv[1]))

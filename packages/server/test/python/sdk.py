"""Drives Python graphs with the stock Python client: sdk.py <url> <seconds>."""

import asyncio
import json
import sys
from typing import Any

from langgraph_sdk import get_client


async def texts(messages: Any) -> list[str]:
    # The texts of messages arrive while these are iterated.
    found = [message async for message in messages]
    return [await message.text for message in found]


async def customs(events: Any) -> list[Any]:
    return [event["params"]["data"] async for event in events]


async def streamed(client: Any) -> dict[str, Any]:
    """The messages and the custom events of a thread stream."""
    async with client.threads.stream(assistant_id="model") as stream:
        reading = asyncio.gather(texts(stream.messages), customs(stream.subscribe(["custom"])))
        await stream.run.start(input={"messages": [{"role": "user", "content": "hi"}]})
        messages, custom = await reading
        return {"messages": messages, "custom": custom}


async def main(url: str) -> dict[str, Any]:
    client = get_client(url=url)
    thread = (await client.threads.create())["thread_id"]
    events: list[str] = []
    async for part in client.runs.stream(
        thread, "model", input={"messages": "hi"}, stream_mode=["values", "updates", "messages-tuple", "custom"], stream_subgraphs=True
    ):
        events.append(part.event)
    state = await client.threads.get_state(thread)
    waiting = (await client.threads.create())["thread_id"]
    asked = await client.runs.wait(waiting, "outer", input={"items": ["start"]})
    answered = await client.runs.wait(waiting, "outer", command={"resume": "yes"})
    history = await client.threads.get_history(waiting)
    return {
        "events": sorted(set(events)),
        "messages": [message["content"] for message in state["values"]["messages"]],
        "asked": asked["__interrupt__"][0]["value"]["question"],
        "answered": answered["items"],
        "streamed": await streamed(client),
        "steps": [one["metadata"]["step"] for one in history],
    }


print(json.dumps(asyncio.run(asyncio.wait_for(main(sys.argv[1]), float(sys.argv[2])))))

"""A model that works offline. It looks for a city or numbers in the question, calls the matching tool, and answers with its result."""

import re
import uuid
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

CITIES = ["Lisbon", "Oslo", "Zurich"]


def call(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{uuid.uuid4()}"}])


def reply(messages: list[BaseMessage]) -> AIMessage:
    last = messages[-1]
    if last.type == "tool":
        return AIMessage(f"The weather: {last.content}." if last.name == "weather" else f"The sum is {last.content}.")
    question = last.text
    for city in CITIES:
        if city.lower() in question.lower():
            return call("weather", city=city)
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", question)]
    if len(numbers) > 1:
        return call("add", numbers=numbers)
    return AIMessage(f"You said: {question}. Ask me for the weather in {', '.join(CITIES)}, or to add numbers.")


class ScriptedModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> "ScriptedModel":
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=reply(messages))])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        message = reply(messages)
        if message.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=message.tool_calls))
            return
        for word in re.findall(r"\S+\s*", message.text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk

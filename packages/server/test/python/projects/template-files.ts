// Files of the larger templates.

const loadChatModel = `"""Utility & helper functions."""

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage


def get_message_text(msg: BaseMessage) -> str:
    """Get the text content of a message."""
    content = msg.content
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return content.get("text", "")
    txts = [c if isinstance(c, str) else (c.get("text") or "") for c in content]
    return "".join(txts).strip()


def load_chat_model(fully_specified_name: str) -> BaseChatModel:
    """Load a chat model from a fully specified name."""
    provider, model = fully_specified_name.split("/", maxsplit=1)
    return init_chat_model(model, model_provider=provider)
`;

export const reactFiles: Record<string, string> = {
  'src/react_agent/__init__.py': `"""React Agent."""

from react_agent.graph import graph

__all__ = ["graph"]
`,
  'src/react_agent/context.py': `"""Define the configurable parameters for the agent."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Annotated

from . import prompts


@dataclass(kw_only=True)
class Context:
    """The context for the agent."""

    system_prompt: str = field(
        default=prompts.SYSTEM_PROMPT,
        metadata={"description": "The system prompt to use for the agent's interactions."},
    )
    model: Annotated[str, {"__template_metadata__": {"kind": "llm"}}] = field(
        default="anthropic/claude-sonnet-4-5-20250929",
        metadata={"description": "The name of the language model. Should be in the form: provider/model-name."},
    )
    max_search_results: int = field(default=10, metadata={"description": "The maximum number of search results."})

    def __post_init__(self) -> None:
        """Fetch env vars for attributes that were not passed as args."""
        for f in fields(self):
            if not f.init:
                continue
            if getattr(self, f.name) == f.default:
                setattr(self, f.name, os.environ.get(f.name.upper(), f.default))
`,
  'src/react_agent/prompts.py': `SYSTEM_PROMPT = """You are a helpful AI assistant.

System time: {system_time}"""
`,
  'src/react_agent/state.py': `"""Define the state structures for the agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

from langchain_core.messages import AnyMessage
from langgraph.graph import add_messages
from langgraph.managed import IsLastStep
from typing_extensions import Annotated


@dataclass
class InputState:
    """Defines the input state for the agent."""

    messages: Annotated[Sequence[AnyMessage], add_messages] = field(default_factory=list)


@dataclass
class State(InputState):
    """Represents the complete state of the agent."""

    is_last_step: IsLastStep = field(default=False)
`,
  'src/react_agent/tools.py': `from typing import Any, Callable, List, Optional, cast

from langgraph.runtime import get_runtime
from react_agent.context import Context


async def search(query: str) -> Optional[dict[str, Any]]:
    """Search for general web results."""
    runtime = get_runtime(Context)
    return cast(dict[str, Any], {"results": f"found {query} {runtime.context.max_search_results}"})


TOOLS: List[Callable[..., Any]] = [search]
`,
  'src/react_agent/utils.py': loadChatModel,
  'src/react_agent/graph.py': `"""Define a custom Reasoning and Action agent."""

from datetime import UTC, datetime
from typing import Dict, List, Literal, cast

from langchain_core.messages import AIMessage
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from react_agent.context import Context
from react_agent.state import InputState, State
from react_agent.tools import TOOLS
from react_agent.utils import load_chat_model


async def call_model(state: State, runtime: Runtime[Context]) -> Dict[str, List[AIMessage]]:
    """Call the LLM powering our "agent"."""
    model = load_chat_model(runtime.context.model).bind_tools(TOOLS)
    system_message = runtime.context.system_prompt.format(system_time=datetime.now(tz=UTC).isoformat())
    response = cast(
        AIMessage,
        await model.ainvoke([{"role": "system", "content": system_message}, *state.messages]),
    )
    if state.is_last_step and response.tool_calls:
        return {"messages": [AIMessage(id=response.id, content="Sorry, I could not find an answer.")]}
    return {"messages": [response]}


builder = StateGraph(State, input_schema=InputState, context_schema=Context)
builder.add_node(call_model)
builder.add_node("tools", ToolNode(TOOLS))
builder.add_edge("__start__", "call_model")


def route_model_output(state: State) -> Literal["__end__", "tools"]:
    """Determine the next node based on the model's output."""
    last_message = state.messages[-1]
    if not isinstance(last_message, AIMessage):
        raise ValueError(f"Expected AIMessage in output edges, but got {type(last_message).__name__}")
    return "tools" if last_message.tool_calls else "__end__"


builder.add_conditional_edges("call_model", route_model_output)
builder.add_edge("tools", "call_model")
graph = builder.compile(name="ReAct Agent")
`,
};

export const memoryFiles: Record<string, string> = {
  'src/memory_agent/__init__.py': 'from memory_agent.graph import graph\n\n__all__ = ["graph"]\n',
  'src/memory_agent/embeddings.py': `async def aembed_texts(texts: list[str]) -> list[list[float]]:
    """Embed texts."""
    return [[float(len(text)), float(text.count("e")), 1.0] for text in texts]
`,
  'src/memory_agent/context.py': `from dataclasses import dataclass, field

from typing_extensions import Annotated


@dataclass(kw_only=True)
class Context:
    """Main context class for the memory graph system."""

    user_id: str = "default"
    """The ID of the user to remember in the conversation."""
    model: Annotated[str, {"__template_metadata__": {"kind": "llm"}}] = field(
        default="anthropic/claude-sonnet-4-5-20250929"
    )
    system_prompt: str = "You are a helpful assistant who knows of {user}: {user_info}"
`,
  'src/memory_agent/state.py': `from __future__ import annotations

from dataclasses import dataclass

from langchain_core.messages import AnyMessage
from langgraph.graph import add_messages
from typing_extensions import Annotated


@dataclass(kw_only=True)
class State:
    """Main graph state."""

    messages: Annotated[list[AnyMessage], add_messages]
    known: str = ""
`,
  'src/memory_agent/tools.py': `import uuid
from typing import Annotated, Optional

from langchain_core.tools import InjectedToolArg
from langgraph.store.base import BaseStore


async def upsert_memory(
    content: str,
    context: str,
    *,
    memory_id: Optional[uuid.UUID] = None,
    user_id: Annotated[str, InjectedToolArg],
    store: Annotated[BaseStore, InjectedToolArg],
):
    """Upsert a memory in the database."""
    mem_id = memory_id or uuid.uuid4()
    await store.aput(("memories", user_id), key=str(mem_id), value={"content": content, "context": context})
    return f"Stored memory {mem_id}"
`,
  'src/memory_agent/utils.py': loadChatModel,
  'src/memory_agent/graph.py': `"""Graphs that extract memories on a schedule."""

import asyncio
from typing import cast

from langgraph.graph import END, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from memory_agent import tools, utils
from memory_agent.context import Context
from memory_agent.state import State


async def call_model(state: State, runtime: Runtime[Context]) -> dict:
    """Extract the user's state from the conversation and update the memory."""
    user_id = runtime.context.user_id
    memories = await cast(BaseStore, runtime.store).asearch(
        ("memories", user_id), query=str([m.content for m in state.messages[-3:]]), limit=10
    )
    formatted = "; ".join(str(mem.value["content"]) for mem in memories)
    sys = runtime.context.system_prompt.format(user=user_id, user_info=formatted)
    msg = await utils.load_chat_model(runtime.context.model).bind_tools([tools.upsert_memory]).ainvoke(
        [{"role": "system", "content": sys}, *state.messages]
    )
    return {"messages": [msg], "known": sys}


async def store_memory(state: State, runtime: Runtime[Context]):
    tool_calls = getattr(state.messages[-1], "tool_calls", [])
    saved_memories = await asyncio.gather(
        *(
            tools.upsert_memory(**tc["args"], user_id=runtime.context.user_id, store=cast(BaseStore, runtime.store))
            for tc in tool_calls
        )
    )
    results = [
        {"role": "tool", "content": mem, "tool_call_id": tc["id"]}
        for tc, mem in zip(tool_calls, saved_memories, strict=False)
    ]
    return {"messages": results}


def route_message(state: State):
    """Determine the next step based on the presence of tool calls."""
    return "store_memory" if getattr(state.messages[-1], "tool_calls", None) else END


builder = StateGraph(State, context_schema=Context)
builder.add_node(call_model)
builder.add_edge("__start__", "call_model")
builder.add_node(store_memory)
builder.add_conditional_edges("call_model", route_message, ["store_memory", END])
builder.add_edge("store_memory", "call_model")
graph = builder.compile()
graph.name = "MemoryAgent"
`,
};

export const retrievalFiles: Record<string, string> = {
  'src/retrieval_graph/__init__.py': `from retrieval_graph.graph import graph
from retrieval_graph.index_graph import graph as index_graph

__all__ = ["graph", "index_graph"]
`,
  'src/retrieval_graph/utils.py': loadChatModel,
  'src/retrieval_graph/configuration.py': `from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, Optional, Type, TypeVar

from langchain_core.runnables import RunnableConfig, ensure_config


@dataclass(kw_only=True)
class IndexConfiguration:
    """Configuration class for indexing and retrieval operations."""

    user_id: str = field(default="", metadata={"description": "Unique identifier for the user."})
    retriever_provider: Annotated[
        Literal["elastic", "pinecone"], {"__template_metadata__": {"kind": "retriever"}}
    ] = field(default="elastic")
    search_kwargs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_runnable_config(cls: Type[T], config: Optional[RunnableConfig] = None) -> T:
        """Create an IndexConfiguration instance from a RunnableConfig object."""
        config = ensure_config(config)
        configurable = config.get("configurable") or {}
        _fields = {f.name for f in fields(cls) if f.init}
        return cls(**{k: v for k, v in configurable.items() if k in _fields})


T = TypeVar("T", bound=IndexConfiguration)


@dataclass(kw_only=True)
class Configuration(IndexConfiguration):
    """The configuration for the agent."""

    query_model: str = field(default="anthropic/claude-3-haiku-20240307")
`,
  'src/retrieval_graph/state.py': `"""State management for the retrieval graph."""

import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, Sequence, Union

from langchain_core.documents import Document
from langchain_core.messages import AnyMessage
from langgraph.graph import add_messages


def reduce_docs(
    existing: Optional[Sequence[Document]],
    new: Union[Sequence[Document], Sequence[dict[str, Any]], Sequence[str], str, Literal["delete"]],
) -> Sequence[Document]:
    """Reduce and process documents based on the input type."""
    if new == "delete":
        return []
    if isinstance(new, str):
        return [Document(page_content=new, metadata={"id": str(uuid.uuid4())})]
    coerced = []
    for item in new:
        if isinstance(item, str):
            coerced.append(Document(page_content=item, metadata={"id": str(uuid.uuid4())}))
        elif isinstance(item, dict):
            coerced.append(Document(**item))
        else:
            coerced.append(item)
    return coerced if existing is None else [*existing, *coerced]


@dataclass(kw_only=True)
class IndexState:
    """Represents the state for document indexing and retrieval."""

    docs: Annotated[Sequence[Document], reduce_docs]


@dataclass(kw_only=True)
class InputState:
    """Represents the input state for the agent."""

    messages: Annotated[Sequence[AnyMessage], add_messages]


def add_queries(existing: Sequence[str], new: Sequence[str]) -> Sequence[str]:
    """Combine existing queries with new queries."""
    return list(existing) + list(new)


@dataclass(kw_only=True)
class State(InputState):
    """The state of your graph / agent."""

    queries: Annotated[list[str], add_queries] = field(default_factory=list)
    retrieved_docs: list[Document] = field(default_factory=list)
`,
  'src/retrieval_graph/index_graph.py': `"""This "graph" simply exposes an endpoint for a user to upload docs to be indexed."""

from typing import Optional

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from retrieval_graph.configuration import IndexConfiguration
from retrieval_graph.state import IndexState


async def index_docs(state: IndexState, *, config: Optional[RunnableConfig] = None) -> dict[str, str]:
    """Asynchronously index documents in the given state using the configured retriever."""
    if not config:
        raise ValueError("Configuration required to run index_docs.")
    assert IndexConfiguration.from_runnable_config(config).user_id == "a"
    return {"docs": "delete"}


builder = StateGraph(IndexState, config_schema=IndexConfiguration)
builder.add_node(index_docs)
builder.add_edge("__start__", "index_docs")
graph = builder.compile()
graph.name = "IndexGraph"
`,
  'src/retrieval_graph/graph.py': `"""Main entrypoint for the conversational retrieval graph."""

from typing import cast

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from pydantic import BaseModel
from retrieval_graph.configuration import Configuration
from retrieval_graph.state import InputState, State
from retrieval_graph.utils import get_message_text, load_chat_model


class SearchQuery(BaseModel):
    """Search the indexed documents for a query."""

    query: str


async def generate_query(state: State, *, config: RunnableConfig) -> dict[str, list[str]]:
    """Generate a search query based on the current state and configuration."""
    messages = state.messages
    if len(messages) == 1:
        return {"queries": [get_message_text(messages[-1])]}
    configuration = Configuration.from_runnable_config(config)
    prompt = ChatPromptTemplate.from_messages([("system", "Generate search queries."), ("placeholder", "{messages}")])
    model = load_chat_model(configuration.query_model).with_structured_output(SearchQuery)
    message_value = await prompt.ainvoke({"messages": state.messages}, config)
    generated = cast(SearchQuery, await model.ainvoke(message_value, config))
    return {"queries": [generated.query]}


async def retrieve(state: State, *, config: RunnableConfig) -> dict[str, list[Document]]:
    """Retrieve documents based on the latest query in the state."""
    return {"retrieved_docs": [Document(f"about {state.queries[-1]}", metadata={"source": "a"})]}


async def respond(state: State, *, config: RunnableConfig) -> dict[str, list]:
    """Call the LLM powering our "agent"."""
    model = load_chat_model(Configuration.from_runnable_config(config).query_model)
    found = "\\n\\n".join(doc.page_content for doc in state.retrieved_docs)
    return {"messages": [await model.ainvoke([("system", "Answer."), ("user", found)], config)]}


builder = StateGraph(State, input_schema=InputState, config_schema=Configuration)
builder.add_node(generate_query)  # type: ignore[arg-type]
builder.add_node(retrieve)  # type: ignore[arg-type]
builder.add_node(respond)  # type: ignore[arg-type]
builder.add_edge("__start__", "generate_query")
builder.add_edge("generate_query", "retrieve")
builder.add_edge("retrieve", "respond")
graph = builder.compile(interrupt_before=[], interrupt_after=[])
graph.name = "RetrievalGraph"
`,
};

export const factoryFiles: Record<string, string> = {
  'graphs.py': `import contextlib
from typing import TypedDict

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph_sdk.runtime import ServerRuntime


class Context(TypedDict):
    tone: str


def _replying(text: str):
    def reply(state: MessagesState):
        return {"messages": [AIMessage(text)]}

    builder = StateGraph(MessagesState, context_schema=Context)
    builder.add_node("reply", reply)
    builder.add_edge(START, "reply")
    builder.add_edge("reply", END)
    return builder


def make_graph(config: RunnableConfig):
    user_id = config.get("configurable", {}).get("user_id")
    return _replying(f"for a {user_id}" if user_id else "for nobody").compile()


async def make_for_user(config: RunnableConfig, runtime: ServerRuntime):
    execution = runtime.execution_runtime
    user = "no user" if runtime.user is None else runtime.user.identity
    context = execution.context if execution else None
    return _replying(f"access {runtime.access_context}, context {context}, {user}").compile()


@contextlib.asynccontextmanager
async def opened(runtime: ServerRuntime):
    connection = ["connected"]
    try:
        yield _replying(connection[0])
    finally:
        connection.clear()
`,
};

// Python projects as public repositories have them: the folders, configurations and imports of the templates of LangGraph. Their models are of
// a provider, at the address in ANTHROPIC_API_URL.
import { factoryFiles, memoryFiles, reactFiles, retrievalFiles } from './template-files.ts';

export interface StockProject {
  /** Files of the repository, by path; values that are no text are written as JSON. */
  files: Record<string, unknown>;
  /** The folder in which its README starts the server. */
  cwd?: string;
  /** Folders that `uv sync` or `pip install -e` has put into the environment. */
  installed?: string[];
  /** Runs: graph, input, a text in the result, and more fields of the request. */
  runs: [graph: string, input: unknown, result: RegExp, more?: object][];
  /** Headers of a client. */
  headers?: Record<string, string>;
  /** Further requests: path, status, a text in the response, and headers. */
  pages?: [path: string, status: number, text: string, headers?: Record<string, string>][];
}

const langgraphJson = (graphs: Record<string, unknown>, more: object = {}): object => ({
  $schema: 'https://langgra.ph/schema.json',
  dependencies: ['.'],
  graphs,
  env: '.env',
  image_distro: 'wolfi',
  ...more,
});

const pyproject = (name: string, packages: string): string => `[project]
name = "${name}"
version = "0.0.1"
requires-python = ">=3.11,<4.0"
dependencies = ["langgraph>=1.0.0"]

[build-system]
requires = ["setuptools>=73.0.0", "wheel"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["langgraph.templates.${packages}", "${packages}"]
[tool.setuptools.package-dir]
"langgraph.templates.${packages}" = "src/${packages}"
"${packages}" = "src/${packages}"
`;

const env = 'ANTHROPIC_API_KEY=a-key\nLANGSMITH_TRACING=false\n';
const chat = { messages: [{ role: 'user', content: 'Hello there' }] };

/** The graph of the template for new projects. */
const newProjectGraph = (reply: string, head = ''): string => `"""LangGraph single-node graph template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict

from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict
${head}

class Context(TypedDict):
    """Context parameters for the agent."""

    my_configurable_param: str


@dataclass
class State:
    """Input state for the agent."""

    changeme: str = "example"


async def call_model(state: State, runtime: Runtime[Context]) -> Dict[str, Any]:
    """Process input and returns output."""
    return {"changeme": f"${reply} {(runtime.context or {}).get('my_configurable_param')} {state.changeme}"}


graph = (
    StateGraph(State, context_schema=Context)
    .add_node(call_model)
    .add_edge("__start__", "call_model")
    .compile(name="New Graph")
)
`;

const newProject = { context: { my_configurable_param: 'param' } };

export const stockProjects: Record<string, StockProject> = {
  'react-agent': {
    files: {
      'langgraph.json': langgraphJson({ agent: './src/react_agent/graph.py:graph' }),
      'pyproject.toml': pyproject('react-agent', 'react_agent'),
      '.env': env,
      ...reactFiles,
    },
    runs: [['agent', chat, /found the news 10.*The tool said: .*found the news/s]],
  },
  'memory-agent': {
    files: {
      'langgraph.json': langgraphJson(
        { agent: './src/memory_agent/graph.py:graph' },
        {
          python_version: '3.11',
          store: { index: { dims: 3, embed: './src/memory_agent/embeddings.py:aembed_texts' } },
        },
      ),
      'pyproject.toml': pyproject('memory-agent', 'memory_agent'),
      '.env': env,
      ...memoryFiles,
    },
    runs: [
      ['agent', chat, /Stored memory .*The tool said/s, { context: { user_id: 'ann' } }],
      ['agent', chat, /knows of ann: likes tea/, { context: { user_id: 'ann' } }],
    ],
  },
  'retrieval-agent': {
    files: {
      'langgraph.json': langgraphJson({
        indexer: './src/retrieval_graph/index_graph.py:graph',
        retrieval_graph: './src/retrieval_graph/graph.py:graph',
      }),
      'pyproject.toml': pyproject('retrieval-graph', 'retrieval_graph'),
      '.env': env,
      ...retrievalFiles,
    },
    runs: [
      [
        'indexer',
        { docs: [{ page_content: 'tea is hot' }] },
        /"docs"/,
        { config: { configurable: { user_id: 'a' } } },
      ],
      ['retrieval_graph', chat, /"queries":\["Hello there"\].*about Hello there/s],
      [
        'retrieval_graph',
        { messages: ['one', { role: 'user', content: 'two' }] },
        /"queries":\["tea"\].*about tea/s,
      ],
    ],
  },
  'deep-research': {
    files: {
      'langgraph.json': { dependencies: ['.'], graphs: { research: './agent.py:agent' }, env: '.env' },
      'pyproject.toml': '[project]\nname = "deep-research"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n',
      '.env': env,
      'research_agent/__init__.py': '"""Deep Research Agent Example."""\n',
      'research_agent/prompts.py': 'INSTRUCTIONS = "You are an expert researcher."\n',
      'research_agent/tools.py': `from typing import Annotated, Literal

from langchain_core.tools import InjectedToolArg, tool


@tool(parse_docstring=True)
def internet_search(
    query: str,
    topic: Annotated[Literal["general", "news"], InjectedToolArg] = "general",
) -> str:
    """Search the web.

    Args:
        query: Search query to execute
        topic: Topic filter
    """
    return f"found {query}"
`,
      'agent.py': `"""Research Agent - Standalone script for LangGraph deployment."""

from deepagents import create_deep_agent
from langchain.chat_models import init_chat_model
from research_agent.prompts import INSTRUCTIONS
from research_agent.tools import internet_search

research_sub_agent = {
    "name": "research-agent",
    "description": "Delegate research to the sub-agent researcher.",
    "system_prompt": INSTRUCTIONS,
    "tools": [internet_search],
}
model = init_chat_model(model="anthropic:claude-sonnet-4-5-20250929", temperature=0.0)
agent = create_deep_agent(
    model=model,
    tools=[internet_search],
    system_prompt=INSTRUCTIONS,
    subagents=[research_sub_agent],
)
`,
    },
    runs: [['research', chat, /found the news.*The tool said/s]],
  },
  'custom-routes': {
    files: {
      'langgraph.json': langgraphJson(
        { agent: './src/agent/graph.py:graph' },
        { http: { app: './src/agent/webapp.py:app' } },
      ),
      'pyproject.toml': pyproject('agent', 'agent'),
      '.env': env,
      'src/agent/__init__.py': '',
      'src/agent/graph.py': newProjectGraph('routed'),
      'src/agent/webapp.py': `from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI, Request
from starlette.middleware.base import BaseHTTPMiddleware


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.greeting = "Hello"
    yield


app = FastAPI(lifespan=lifespan)


class CustomHeaderMiddleware(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next):
        response = await call_next(request)
        response.headers["X-Custom-Header"] = "Hello from middleware!"
        return response


app.add_middleware(CustomHeaderMiddleware)


def name(q: str = "World") -> str:
    return q


@app.get("/hello")
def read_root(request: Request, who: str = Depends(name)):
    return {request.app.state.greeting: who}
`,
    },
    runs: [['agent', { changeme: 'x' }, /routed param x/, newProject]],
    pages: [['/hello?q=you', 200, '{"Hello":"you"}']],
  },
  'custom-auth': {
    files: {
      'langgraph.json': langgraphJson(
        { agent: './src/agent/graph.py:graph' },
        { auth: { path: 'src/security/auth.py:auth' } },
      ),
      'pyproject.toml': pyproject('agent', 'agent'),
      '.env': env,
      'src/agent/__init__.py': '',
      'src/agent/graph.py': newProjectGraph('allowed'),
      'src/security/auth.py': `from langgraph_sdk import Auth

# This is our toy user database. Do not do this in production
VALID_TOKENS = {
    "user1-token": {"id": "user1", "name": "Alice"},
    "user2-token": {"id": "user2", "name": "Bob"},
}

auth = Auth()


@auth.authenticate
async def get_current_user(authorization: str | None) -> Auth.types.MinimalUserDict:
    """Check if the user's token is valid."""
    assert authorization
    scheme, token = authorization.split()
    assert scheme.lower() == "bearer"
    if token not in VALID_TOKENS:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Invalid token")
    return {"identity": VALID_TOKENS[token]["id"]}


@auth.on.threads.create
async def on_thread_create(ctx: Auth.types.AuthContext, value: Auth.types.on.threads.create.value):
    metadata = value.setdefault("metadata", {})
    metadata["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.threads
async def on_threads(ctx: Auth.types.AuthContext, value: dict):
    return {"owner": ctx.user.identity}


@auth.on.assistants
async def on_assistants(ctx: Auth.types.AuthContext, value: Auth.types.on.assistants.value):
    return None


@auth.on.store()
async def authorize_store(ctx: Auth.types.AuthContext, value: dict):
    namespace: tuple = value["namespace"]
    assert namespace[0] == ctx.user.identity, "Not authorized"
`,
    },
    runs: [['agent', { changeme: 'x' }, /allowed param x/, newProject]],
    headers: { authorization: 'Bearer user1-token' },
    pages: [['/assistants/agent', 401, 'Invalid token', { authorization: 'Bearer user3-token' }]],
  },
  'a uv workspace': {
    files: {
      'pyproject.toml':
        '[project]\nname = "workspace"\nversion = "0"\n\n[tool.uv.workspace]\nmembers = ["apps/*", "libs/*"]\n',
      'uv.lock': 'version = 1\n',
      'libs/shared/pyproject.toml': '[project]\nname = "shared"\nversion = "0.1.0"\n',
      'libs/shared/src/shared/__init__.py': 'from shared.greeting import GREETING\n',
      'libs/shared/src/shared/greeting.py': 'GREETING = "shared greeting"\n',
      'apps/agent/pyproject.toml':
        '[project]\nname = "agent"\nversion = "0.1.0"\ndependencies = ["shared"]\n\n[tool.uv.sources]\nshared = { workspace = true }\n',
      'apps/agent/langgraph.json': {
        source: { kind: 'uv', root: '../..' },
        graphs: { agent: './src/agent/graph.py:graph' },
        env: '.env',
      },
      'apps/agent/.env': env,
      'apps/agent/src/agent/__init__.py': '',
      'apps/agent/src/agent/graph.py': newProjectGraph('{GREETING}', 'from shared import GREETING\n'),
    },
    cwd: 'apps/agent',
    installed: ['libs/shared/src', 'apps/agent/src'],
    runs: [['agent', { changeme: 'x' }, /shared greeting param x/, newProject]],
  },
  'a src layout, with graphs by the names of their modules': {
    files: {
      'langgraph.json': langgraphJson({
        agent: 'my_agent.graph:graph',
        package: { path: 'my_agent:graph', description: 'The one that the package exports' },
      }),
      'pyproject.toml': '[project]\nname = "my-agent"\nversion = "0.1.0"\n',
      '.env': env,
      'src/my_agent/__init__.py': 'from .graph import graph\n\n__all__ = ["graph"]\n',
      'src/my_agent/reply.py': 'REPLY = "relative"\n',
      'src/my_agent/graph.py': newProjectGraph('{REPLY}', 'from .reply import REPLY\n'),
    },
    runs: [
      ['agent', { changeme: 'x' }, /relative param x/, newProject],
      ['package', { changeme: 'y' }, /relative param y/, newProject],
    ],
  },
  'langgraph-example': {
    files: {
      'langgraph.json': {
        dependencies: ['./my_agent'],
        graphs: { agent: './my_agent/agent.py:graph' },
        env: '.env',
      },
      '.env': env,
      'my_agent/requirements.txt': 'langgraph\nlangchain_anthropic\n',
      'my_agent/__init__.py': '',
      'my_agent/utils/__init__.py': '',
      'my_agent/utils/state.py': `from typing import Annotated, Sequence, TypedDict

from langchain_core.messages import BaseMessage
from langgraph.graph import add_messages


class AgentState(TypedDict):
    messages: Annotated[Sequence[BaseMessage], add_messages]
`,
      'my_agent/utils/nodes.py': `from functools import lru_cache

from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode


@tool
def search(query: str) -> str:
    """Searches the web."""
    return f"found {query}"


tools = [search]


@lru_cache(maxsize=4)
def _get_model(model_name: str):
    return ChatAnthropic(temperature=0, model_name=model_name).bind_tools(tools)


def should_continue(state):
    return "continue" if state["messages"][-1].tool_calls else "end"


def call_model(state, config):
    messages = [{"role": "system", "content": "Be a helpful assistant"}] + state["messages"]
    model_name = config.get("configurable", {}).get("model_name", "claude-3-sonnet-20240229")
    return {"messages": [_get_model(model_name).invoke(messages)]}


tool_node = ToolNode(tools)
`,
      'my_agent/agent.py': `from typing import Literal, TypedDict

from langgraph.graph import END, StateGraph
from my_agent.utils.nodes import call_model, should_continue, tool_node
from my_agent.utils.state import AgentState


class GraphConfig(TypedDict):
    model_name: Literal["anthropic", "openai"]


workflow = StateGraph(AgentState, config_schema=GraphConfig)
workflow.add_node("agent", call_model)
workflow.add_node("action", tool_node)
workflow.set_entry_point("agent")
workflow.add_conditional_edges("agent", should_continue, {"continue": "action", "end": END})
workflow.add_edge("action", "agent")
graph = workflow.compile()
`,
    },
    runs: [['agent', chat, /found the news.*The tool said/s]],
  },
  'graphs that functions make': {
    files: {
      'langgraph.json': langgraphJson({
        by_config: './graphs.py:make_graph',
        by_runtime: './graphs.py:make_for_user',
        opened: './graphs.py:opened',
      }),
      'requirements.txt': 'langgraph\n',
      '.env': env,
      ...factoryFiles,
    },
    runs: [
      ['by_config', chat, /for a customer/, { config: { configurable: { user_id: 'customer' } } }],
      ['by_config', chat, /for nobody/],
      [
        'by_runtime',
        chat,
        /access threads.create_run, context \{'tone': 'kind'\}, no user/,
        { context: { tone: 'kind' } },
      ],
      ['opened', chat, /connected/],
    ],
  },
};

// The user of a run, in a Python graph.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../folders.ts';
import { python, whyNoPythonClients } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';

const files = {
  'svc.json': JSON.stringify({
    graphs: { users: './users.py:graph', made: './users.py:make_graph' },
    auth: { path: './auth.py:auth' },
    compat: 'langgraph',
  }),
  'auth.py': `from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None):
    return {"identity": authorization, "permissions": ["read"], "org": {"id": 7}, "token": "secret"}


@auth.on.threads
async def threads(ctx, value):
    if ctx.action in ("create", "create_run"):
        value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}
`,
  'users.py': `from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime


class State(TypedDict, total=False):
    seen: dict[str, Any]


def describe(user: Any) -> list[Any]:
    return [user.identity, user["identity"], user.permissions, user.org.id, user["org"]["id"], user.get("token"), user.is_authenticated]


def look(state: State, config: RunnableConfig, runtime: Runtime) -> State:
    configurable = config["configurable"]
    info = runtime.server_info
    return {
        "seen": {
            "user": describe(configurable["langgraph_auth_user"]),
            "id": configurable["langgraph_auth_user_id"],
            "permissions": configurable["langgraph_auth_permissions"],
            "own": configurable["svc_auth_user"]["identity"],
            "server": [info.graph_id, describe(info.user)] if info else None,
        }
    }


builder = StateGraph(State).add_node("look", look).add_edge(START, "look")
graph = builder.compile()


def make_graph(config: RunnableConfig):
    identity = config["configurable"]["langgraph_auth_user"].identity

    def greet(state: State) -> State:
        return {"seen": {"greeting": f"hi {identity}"}}

    return StateGraph(State).add_node("greet", greet).add_edge(START, "greet").compile()
`,
};

describe.skipIf(whyNoPythonClients() !== undefined)('the user of a run', () => {
  it('is in the configuration and in the runtime of a Python graph', async () => {
    const dir = testFolder();
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    symlinkSync(join(python, '../..'), join(dir, '.venv'));
    await using server = await startTestServer({ project: join(dir, 'svc.json') });
    const run = async (assistant_id: string) => {
      const body = { assistant_id, input: { seen: {} } };
      const headers = { authorization: 'ann' };
      const { status, body: result } = await server.call('POST', '/runs/wait', body, headers);
      expect([status, JSON.stringify(result)]).toEqual([200, expect.not.stringContaining('__error__')]);
      return (result as { seen: object }).seen;
    };
    const user = ['ann', 'ann', ['read'], 7, 7, 'secret', true];
    expect(await run('users')).toEqual({
      user,
      id: 'ann',
      permissions: ['read'],
      own: 'ann',
      server: ['users', user],
    });
    expect(await run('made')).toEqual({ greeting: 'hi ann' });
  });
});

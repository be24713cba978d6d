// `get_client()` without a URL in graphs and routes in Python: requests act for the user of the run, or of the request.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { sharedFolder, testFolder } from '../folders.ts';
import { python, whyNoPythonApps } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';

const files = {
  'auth.py': `from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None):
    if not authorization:
        raise Auth.exceptions.HTTPException(401, "Log in first")
    return {"identity": authorization, "permissions": ["read"]}


@auth.on.threads
async def threads(ctx, value):
    if ctx.action in ("create", "create_run"):
        value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}
`,
  'own.py': `import asyncio
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client

client = get_client()


class State(TypedDict, total=False):
    seen: dict[str, Any]


class Inner(TypedDict, total=False):
    text: str


async def owners(of) -> list[str]:
    return sorted({thread["metadata"].get("owner", "nobody") for thread in await of.threads.search(limit=100)})


async def look(state: State) -> State:
    thread = await client.threads.create()
    stream = client.runs.stream(thread["thread_id"], "inner", input={"text": "a"}, stream_mode="updates")
    events = [part.event async for part in stream]
    remote = await RemoteGraph("inner", client=client).ainvoke({"text": "b"})
    return {"seen": {"owners": await owners(client), "events": events, "remote": remote}}


def look_again(state: State) -> State:
    return {"seen": {**state["seen"], "in a thread": asyncio.run(owners(get_client()))}}


async def leak(state: State) -> State:
    return {"seen": {"credential": await client.http.get("/credential")}}


leaking = StateGraph(State).add_node(leak).add_edge(START, "leak").compile()
graph = StateGraph(State).add_sequence([look, look_again]).add_edge(START, "look").compile()
inner = StateGraph(Inner).add_node("more", lambda state: {"text": state["text"] + "!"}).add_edge(START, "more").compile()
`,
  'app.py': `from fastapi import FastAPI, Request
from langgraph_sdk import get_client

app = FastAPI()


@app.get("/mine")
async def mine():
    return [thread["metadata"]["owner"] for thread in await get_client().threads.search(limit=1)]


@app.get("/credential")
async def credential(request: Request):
    return request.headers["x-svc-caller"]
`,
};

const early = `from contextlib import asynccontextmanager

from fastapi import FastAPI
from langgraph_sdk import get_client


@asynccontextmanager
async def lifespan(app: FastAPI):
    await get_client().threads.search()
    yield


app = FastAPI(lifespan=lifespan)
`;

const graphs = { graph: './own.py:graph', inner: './own.py:inner', leaking: './own.py:leaking' };

const write = (folder: string, config: object): string => {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  symlinkSync(join(python, '../..'), join(folder, '.venv'));
  writeFileSync(join(folder, 'langgraph.json'), JSON.stringify({ graphs, ...config }));
  return join(folder, 'langgraph.json');
};

describe.skipIf(whyNoPythonApps() !== undefined)('a client without a URL', () => {
  const folder = sharedFolder();
  const server = fixture(() =>
    startTestServer({
      project: write(folder, {
        auth: { path: './auth.py:auth' },
        http: { app: './app.py:app', configurable_headers: { includes: ['x-*'] } },
      }),
      executors: 'ready',
    }),
  );
  const run = { assistant_id: 'graph', input: { seen: {} } };

  it('acts in a graph for the user of the run, also in threads and streams', async () => {
    await server.call('POST', '/threads', {}, { authorization: 'ben' });
    const { body } = await server.call('POST', '/runs/wait', run, { authorization: 'ann' });
    expect(body).toEqual({
      seen: {
        owners: ['ann'],
        events: ['metadata', 'updates'],
        remote: { text: 'b!' },
        'in a thread': ['ann'],
      },
    });
  });

  it('acts in a route for its caller', async () => {
    for (const authorization of ['ann', 'ben'])
      expect((await server.call('GET', '/mine', undefined, { authorization })).body).toEqual([authorization]);
  });

  it('is refused with a credential of another server', async () => {
    const headers = { 'x-svc-caller': 'v1.00000000.AAAA', authorization: 'ann' };
    expect(await server.call('GET', '/threads/x', undefined, headers)).toMatchObject({
      status: 401,
      body: { message: 'The header x-svc-caller is not valid for this server.' },
    });
  });

  it('has a credential that ends with the run', async () => {
    const leaking = { assistant_id: 'leaking', input: { seen: {} } };
    const { body } = await server.call('POST', '/runs/wait', leaking, { authorization: 'ann' });
    const { credential } = (body as { seen: { credential: string } }).seen;
    const threads = await server.call('POST', '/threads/search', {}, { 'x-svc-caller': credential });
    expect(threads).toMatchObject({ status: 401, body: { message: 'The run of this request has ended.' } });
  });

  it('fails in a lifespan, because the server listens only afterwards', async () => {
    const folder = testFolder();
    const project = write(folder, { http: { app: './early.py:app' } });
    writeFileSync(join(folder, 'early.py'), early);
    await expect(startTestServer({ project })).rejects.toThrow('a lifespan cannot call its own server');
  });

  it('needs no key on a server with API keys', async () => {
    const key = 'a-key-of-clients-0123456789-0123456789';
    await using keyed = await startTestServer({
      project: write(testFolder(), {}),
      settings: { apiKeys: key },
    });
    expect((await keyed.call('POST', '/runs/wait', run)).status).toBe(401);
    const { body } = await keyed.call('POST', '/runs/wait', run, { 'x-api-key': key });
    expect(body).toMatchObject({ seen: { owners: ['nobody'], 'in a thread': ['nobody'] } });
  });
});

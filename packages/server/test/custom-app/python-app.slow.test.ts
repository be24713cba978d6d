// http.app in Python: routes, middleware around built-in routes, streams, lifespan.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { testFolder } from '../folders.ts';
import { python, whyNoPythonApps } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';

const graph = fileURLToPath(new URL('../access/project/graph.ts:graph', import.meta.url));

const app = `import asyncio
import contextlib
import os

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute


@contextlib.asynccontextmanager
async def lifespan(app):
    with open("LOG", "a") as log:
        log.write("started\\n")
    yield {"name": "from the lifespan"}
    with open("LOG", "a") as log:
        log.write("stopped\\n")


async def hello(request):
    return JSONResponse({"name": request.path_params["name"], "query": dict(request.query_params), "state": request.state.name})


async def echo(request):
    total = 0
    async for piece in request.stream():
        total += len(piece)
    return JSONResponse({"bytes": total, "type": request.headers.get("content-type")}, 201, headers={"x-app": "yes"})


async def ticks(request):
    async def generate():
        try:
            for number in range(1_000_000):
                yield f"tick {number}\\n"
                await asyncio.sleep(0.005)
        finally:
            with open("LOG", "a") as log:
                log.write("closed\\n")
    return StreamingResponse(generate(), media_type="text/plain")


async def who(request):
    return JSONResponse({"identity": request.user.identity, "scopes": request.auth.scopes})


def fail(request):
    raise ValueError("a secret of the app")


async def odd(request):
    return PlainTextResponse("odd", 999)


async def crash(request):
    os._exit(3)


async def socket(websocket): ...


ROUTES = [
    Route("/hello/{name}", hello),
    Route("/items/{id:int}", hello),
    Route("/echo", echo, methods=["POST"]),
    Route("/ticks", ticks),
    Route("/who", who),
    Route("/fail", fail),
    Route("/odd", odd),
    Route("/crash", crash),
    Route("/threads/count", lambda request: PlainTextResponse("seven")),
    Mount("/files", routes=[Route("/{path:path}", lambda request: PlainTextResponse(request.path_params["path"]))]),
    WebSocketRoute("/socket", socket),
]
app = Starlette(routes=ROUTES, lifespan=lifespan)
`;

const withMiddleware = `from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route


class Around(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        if request.headers.get("x-block"):
            return JSONResponse({"blocked": True}, 451)
        size = len(await request.body()) if request.headers.get("x-read") else None
        response = await call_next(request)
        response.headers["x-around"] = f"{request.url.path} {size}"
        return response


class Rename:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and scope["path"] == "/renamed":
            scope = {**scope, "path": "/ok", "raw_path": b"/ok"}
        await self.app(scope, receive, send)


async def own(request):
    return JSONResponse({"own": True})


app = Starlette(routes=[Route("/own", own)], middleware=[Middleware(Around), Middleware(Rename)])
`;

const fastapi = `from typing import Annotated
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel

app = FastAPI()


class Order(BaseModel):
    item: str
    count: int = 1


def current(limit: int = 10):
    return limit


@app.post("/orders")
def order(order: Order, limit: Annotated[int, Depends(current)]) -> Order:
    if order.count > limit:
        raise HTTPException(409, "too many")
    return order
`;

const projectOf = (code: string, sections: object = {}): string => {
  const dir = testFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  symlinkSync(join(python, '../..'), join(dir, '.venv'));
  write('app.py', code.replaceAll('"LOG"', JSON.stringify(join(dir, 'log.txt'))));
  write('log.txt', '');
  write('svc.json', JSON.stringify({ graphs: { probe: graph }, http: { app: './app.py:app' }, ...sections }));
  return join(dir, 'svc.json');
};

const serve = (code: string, sections?: object) =>
  startTestServer({ project: projectOf(code, sections), executors: 'none' });

describe.skipIf(whyNoPythonApps() !== undefined)('an app of Starlette', () => {
  it('serves its routes before the built-in ones, with the state of its lifespan', async () => {
    await using server = await serve(app);
    expect((await server.call('GET', '/hello/a%20b?x=1&y=2')).body).toEqual({
      name: 'a b',
      query: { x: '1', y: '2' },
      state: 'from the lifespan',
    });
    expect((await server.call('GET', '/files/a/b.txt')).body).toBe('a/b.txt');
    expect((await server.call('GET', '/threads/count')).body).toBe('seven');
    expect((await server.call('POST', '/threads', {})).status).toBe(200);
    // The path of a number does not match: no route has it.
    expect((await server.call('GET', '/items/x')).body).toMatchObject({ code: 'not_found' });
    expect((await server.call('GET', '/nothing')).body).toMatchObject({ code: 'not_found' });
    expect((await fetch(`${server.url}/hello/ann`, { method: 'HEAD' })).status).toBe(200);
  });

  it('gets bodies in pieces, and returns status and headers', async () => {
    await using server = await serve(app);
    const body = Buffer.alloc(3_000_000, 'x');
    const headers = { 'content-type': 'application/octet-stream' };
    const answer = await fetch(`${server.url}/echo`, { method: 'POST', body, headers });
    expect([answer.status, answer.headers.get('x-app'), await answer.json()]).toEqual([
      201,
      'yes',
      { bytes: 3_000_000, type: 'application/octet-stream' },
    ]);
  });

  it('streams its response as fast as the client reads, and notices that it has gone', async () => {
    const project = projectOf(app);
    await using server = await startTestServer({ project, executors: 'none' });
    const log = () => readFile(join(dirname(project), 'log.txt'), 'utf8');
    const answer = await fetch(`${server.url}/ticks`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('tick 2')) text += (await reader?.read())?.value ?? '';
    expect(text).toMatch(/^tick 0\ntick 1\ntick 2\n/);
    await reader?.cancel();
    await eventually(async () => expect(await log()).toBe('started\nclosed\n'));
    await server[Symbol.asyncDispose]();
    expect(await log()).toBe('started\nclosed\nstopped\n');
  });

  it('is kept, or started again, when an endpoint fails or ends the process', async () => {
    await using server = await serve(app);
    const failed = await server.call('GET', '/fail');
    expect([failed.status, JSON.stringify(failed.body)]).toEqual([
      500,
      expect.not.stringContaining('secret'),
    ]);
    expect((await server.call('GET', '/odd')).status).toBe(500);
    expect((await server.call('GET', '/hello/ann')).status).toBe(200);
    expect(await server.call('GET', '/crash')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await eventually(async () => expect((await server.call('GET', '/hello/ann')).status).toBe(200));
  });

  it('is called with the user of the auth file', async () => {
    const auth = fileURLToPath(new URL('../access/project/auth.py:auth', import.meta.url));
    await using server = await serve(app, { auth: { path: auth } });
    expect((await server.call('GET', '/who')).status).toBe(401);
    const { body } = await server.call('GET', '/who', undefined, { authorization: 'Bearer ann' });
    expect(body).toEqual({ identity: 'ann', scopes: ['chat'] });
  });
});

describe.skipIf(whyNoPythonApps() !== undefined)('middleware of an app in Python', () => {
  it('sees the requests of built-in routes, and changes requests and responses', async () => {
    await using server = await serve(withMiddleware);
    const own = await server.call('GET', '/own');
    expect([own.body, own.headers.get('x-around')]).toEqual([{ own: true }, '/own None']);
    const made = await server.call('POST', '/threads', { metadata: { topic: 'x' } }, { 'x-read': '1' });
    expect(made).toMatchObject({ status: 200, body: { metadata: { topic: 'x' } } });
    expect(made.headers.get('x-around')).toBe('/threads 26');
    const unread = await server.call('POST', '/threads', { metadata: { topic: 'y' } });
    expect(unread).toMatchObject({ status: 200, body: { metadata: { topic: 'y' } } });
    expect(await server.call('POST', '/threads', {}, { 'x-block': '1' })).toMatchObject({
      status: 451,
      body: { blocked: true },
    });
    expect((await server.call('GET', '/renamed')).body).toEqual({ ok: true });
    // A built-in route that refuses the request.
    expect((await server.call('POST', '/threads', { nonsense: 1 }, { 'x-read': '1' })).status).toBe(422);
  });
});

describe.skipIf(whyNoPythonApps() !== undefined)('an app of FastAPI', () => {
  it('validates, resolves dependencies, and refuses', async () => {
    await using server = await serve(fastapi);
    expect((await server.call('POST', '/orders', { item: 'tea' })).body).toEqual({ item: 'tea', count: 1 });
    expect((await server.call('POST', '/orders?limit=2', { item: 'tea', count: 3 })).status).toBe(409);
    expect((await server.call('POST', '/orders', {})).status).toBe(422);
  });
});

describe.skipIf(whyNoPythonApps() !== undefined)('an app that cannot be used', () => {
  it.each([
    ['app = 7', 'is not an app of Starlette or FastAPI, but int'],
    ['', 'has no app; it has nothing'],
    ['import nowhere', "No module named 'nowhere'"],
    [
      `from contextlib import asynccontextmanager
from starlette.applications import Starlette
@asynccontextmanager
async def lifespan(app):
    raise ValueError("no database")
    yield
app = Starlette(lifespan=lifespan)`,
      'ValueError: no database',
    ],
  ])('prevents the start: %s', async (code, message) => {
    await expect(serve(code)).rejects.toThrow(message);
  });
});

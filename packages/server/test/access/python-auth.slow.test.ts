// Auth files in Python: what handlers get, and what becomes of a process that fails.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { python, whyNoPythonApps, whyNoPythonClients } from '../python-clients/python.ts';
import { PythonAuth } from '../../src/app/python-auth.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { testFolder } from '../folders.ts';
import { testSettings } from '../settings.ts';

const head = 'from langgraph_sdk import Auth\nauth = Auth()\n';
const anybody = `@auth.authenticate
async def who(authorization: str | None):
    return authorization or "nobody"
`;

const opened: PythonAuth[] = [];
const loaded: string[] = [];
afterEach(async () => {
  for (const auth of opened.splice(0)) await auth[Symbol.asyncDispose]();
  loaded.length = 0;
});

/** Loads an auth file with this code after the import of the stock Auth. */
const open = async (
  code: string,
  {
    timeoutMs = 5_000,
    authenticates = true,
    more = {},
  }: { timeoutMs?: number; authenticates?: boolean; more?: Record<string, string> } = {},
) => {
  const dir = testFolder();
  for (const [path, text] of Object.entries({ 'auth.py': head + code, ...more })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const file = join(dir, 'auth.py');
  const auth = await PythonAuth.open({
    source: { file, export: 'auth', where: 'auth.path', tsconfig: undefined },
    launch: { interpreter: python, paths: [dir], storedClasses: [] },
    timeoutMs,
    authenticates,
    logger: createLogger(testSettings({ dataDir: dir }).log),
    onModules: (files) => loaded.push(...files),
  });
  opened.push(auth);
  const { definition } = auth;
  return {
    dir,
    definition,
    user: (init: RequestInit = {}, path = '/threads?limit=2') =>
      definition.authenticate(new Request(`http://svc.example:8123${path}`, init)),
    authorize: (event: string, value: object, user: object = { identity: 'ann', permissions: [] }) => {
      const [resource = '', action = ''] = event.split(':');
      const { handlers } = definition;
      const handler =
        handlers.get(event) ?? handlers.get(resource) ?? handlers.get(`*:${action}`) ?? handlers.get('*');
      return handler?.({ event, resource, action, value, user, permissions: [] }, value);
    },
  };
};

const failure = (code: string, more?: Record<string, string>): Promise<string> =>
  open(code, more === undefined ? {} : { more }).then(
    () => 'it was loaded',
    (error: Error) => error.message,
  );

describe.skipIf(whyNoPythonClients() !== undefined)('authenticate in Python', () => {
  it('gets the parts of the request that its parameters name', async () => {
    const { user } = await open(`@auth.authenticate
def who(method, path, headers, authorization, query_params, path_params, scopes, scope, more=1):
    return {"identity": authorization, "method": method, "path": path, "key": headers[b"x-key"].decode(),
            "limit": query_params["limit"], "path_params": path_params, "scopes": scopes, "type": scope["type"], "more": more}
`);
    expect(
      await user(
        { method: 'POST', headers: { authorization: 'Bearer ünïcode', 'x-key': '1' } },
        '/a%20b?limit=2',
      ),
    ).toEqual({
      identity: expect.stringContaining('Bearer'),
      method: 'POST',
      path: '/a b',
      key: '1',
      limit: '2',
      path_params: {},
      scopes: [],
      type: 'http',
      more: 1,
    });
  });

  it.skipIf(whyNoPythonApps() !== undefined)('gets what FastAPI resolves', async () => {
    const { user } = await open(`from typing import Annotated
from fastapi import Depends, Header
from fastapi.security import OAuth2PasswordBearer

def team(token: Annotated[str, Depends(OAuth2PasswordBearer(tokenUrl="token"))], x_team: Annotated[str, Header()]):
    yield f"{token} of {x_team}"

@auth.authenticate
async def who(member: Annotated[str, Depends(team)], path: str):
    return {"identity": member, "path": path}
`);
    expect(await user({ headers: { authorization: 'Bearer ann', 'x-team': 'red' } })).toEqual({
      identity: 'ann of red',
      path: '/threads',
    });
    await expect(user()).rejects.toMatchObject({ name: 'HTTPException', status: 401 });
    await expect(user({ headers: { authorization: 'Bearer ann' } })).rejects.toMatchObject({
      status: 422,
      message: 'header.x-team: Field required',
    });
  });

  it('cannot call its own server, whose requests it authenticates', async () => {
    const { user } = await open(`from langgraph_sdk import get_client

@auth.authenticate
async def who():
    return await get_client().threads.search()
`);
    await expect(user()).rejects.toThrow('get_client() in an auth file needs a URL');
  });

  it('may return a text, a dict, an object, a model, or permissions with one of them', async () => {
    const { user } = await open(`import dataclasses, datetime, uuid
from pydantic import BaseModel

class Model(BaseModel):
    identity: str
    since: datetime.date

@dataclasses.dataclass
class Record:
    identity: str
    team: uuid.UUID

class Plain:
    is_authenticated = True
    display_name = "Ann A."
    def __init__(self):
        self.identity, self.roles, self._secret = "ann", {"admin"}, "hidden"

USERS = {
    "text": "ann",
    "dict": {"identity": "ann", "org": {"id": 7}},
    "model": Model(identity="ann", since=datetime.date(2026, 1, 2)),
    "record": Record("ann", uuid.UUID(int=1)),
    "object": Plain(),
    "pair": (["read"], {"identity": "ann"}),
}

@auth.authenticate
async def who(authorization):
    return USERS[authorization]
`);
    const of = (kind: string) => user({ headers: { authorization: kind } });
    expect(await of('text')).toEqual({ identity: 'ann' });
    expect(await of('dict')).toEqual({ identity: 'ann', org: { id: 7 } });
    expect(await of('model')).toEqual({ identity: 'ann', since: '2026-01-02' });
    expect(await of('record')).toEqual({ identity: 'ann', team: '00000000-0000-0000-0000-000000000001' });
    expect(await of('object')).toEqual({
      identity: 'ann',
      is_authenticated: true,
      display_name: 'Ann A.',
      roles: ['admin'],
    });
    expect(await of('pair')).toEqual({ identity: 'ann', permissions: ['read'] });
    // An unknown key raises KeyError in the handler.
    await expect(of('none')).rejects.toMatchObject({ name: 'AuthHandlerError', message: "KeyError: 'none'" });
  });

  it('refuses a request with the status, detail and headers of its HTTPException', async () => {
    const { user } = await open(`@auth.authenticate
async def who():
    raise Auth.exceptions.HTTPException(402, "Pay first", {"x-price": "5"})
`);
    await expect(user()).rejects.toMatchObject({
      name: 'HTTPException',
      status: 402,
      message: 'Pay first',
      headers: { 'x-price': '5' },
    });
  });

  it('fails when it returns no user', async () => {
    const { user } = await open(`@auth.authenticate
async def who(authorization):
    return {"none": None, "number": 7, "bytes": {"identity": b"a"}, "three": (1, 2, 3)}[authorization]
`);
    for (const kind of ['none', 'number', 'bytes', 'three'])
      await expect(user({ headers: { authorization: kind } })).rejects.toThrow(/^InvalidUser: /);
  });

  it('times out, in time for other requests', async () => {
    const { user } = await open(
      `import asyncio, time
@auth.authenticate
async def who(authorization):
    if authorization == "slow":
        await asyncio.Event().wait()
    return "ann"
`,
      { timeoutMs: 200 },
    );
    const slow = user({ headers: { authorization: 'slow' } });
    const failed = expect(slow).rejects.toMatchObject({ code: 'unavailable' });
    expect(await user()).toEqual({ identity: 'ann' });
    await failed;
  });
});

describe.skipIf(whyNoPythonClients() !== undefined)('a handler in Python', () => {
  it('gets the user and the payload as the SDK declares them', async () => {
    const { authorize } = await open(`${anybody}
import uuid
from langgraph_sdk.auth import is_studio_user

@auth.on.threads.create
async def create(ctx, value):
    assert isinstance(value["thread_id"], uuid.UUID)
    value["metadata"]["seen"] = [ctx.resource, ctx.action, ctx.user.identity, ctx.user["org"]["id"], ctx.user.org.id,
        ctx.user.get("none"), ctx.permissions, ctx.user.is_authenticated, is_studio_user(ctx.user)]

@auth.on.threads
async def threads(ctx, value):
    assert is_studio_user(ctx.user) and isinstance(ctx.user, Auth.types.StudioUser), "only in the Studio"
    return {"owner": ctx.user.display_name}

@auth.on.store
async def store(ctx, value):
    assert isinstance(value["namespace"], tuple)
    value["namespace"] = (ctx.user.identity, *value["namespace"])
`);
    const user = { identity: 'ann', permissions: ['read'], is_authenticated: true, org: { id: 7 } };
    const thread_id = crypto.randomUUID();
    const value = { thread_id, metadata: { kept: 1 } };
    expect(await authorize('threads:create', value, user)).toBeNull();
    expect(value).toEqual({
      thread_id,
      metadata: {
        kept: 1,
        seen: ['threads', 'create', 'ann', 7, 7, null, ['read'], true, false],
      },
    });
    const studio = { identity: 'dev', display_name: 'dev', kind: 'StudioUser', permissions: [] };
    expect(await authorize('threads:read', { thread_id }, studio)).toEqual({ owner: 'dev' });
    await expect(authorize('threads:read', { thread_id }, user)).rejects.toMatchObject({
      name: 'HTTPException',
      status: 403,
      message: 'only in the Studio',
    });
    const item = { namespace: ['memories'], key: 'k' };
    await authorize('store:get', item, user);
    expect(item).toEqual({ namespace: ['ann', 'memories'], key: 'k' });
  });

  it('is registered for an event, a resource, an action, or everything', async () => {
    const { definition } = await open(
      `
@auth.on
async def everything(ctx, value): ...
@auth.on.threads
async def threads(ctx, value): ...
@auth.on.threads.create
async def create(ctx, value): ...
@auth.on(actions="read")
async def read(ctx, value): ...
@auth.on.store.put
async def put(ctx, value): ...
@auth.on(resources=["crons", "assistants"], actions=["search"])
async def several(ctx, value): ...
`,
      { authenticates: false },
    );
    expect([...definition.handlers.keys()].toSorted()).toEqual(
      [
        '*',
        '*:read',
        'assistants:search',
        'crons:search',
        'store:put',
        'threads',
        'threads:create',
      ].toSorted(),
    );
  });
});

describe.skipIf(whyNoPythonClients() !== undefined)('an auth file in Python', () => {
  it('reports the modules of the project that it imports', async () => {
    const { dir } = await open(`from team.people import who\nauth.authenticate(who)\n`, {
      more: {
        'team/people.py': 'from . import names\nasync def who(): return names.NAME\n',
        'team/names.py': 'NAME = "ann"',
      },
    });
    expect(loaded.toSorted()).toEqual(
      ['auth.py', 'team/names.py', 'team/people.py'].map((file) => join(dir, file)).toSorted(),
    );
  });

  it('prevents the start when it cannot be used', async () => {
    expect(await failure('raise ValueError("no database")')).toMatch(
      /auth\.py cannot be loaded: .*auth\.py:3: ValueError: no database/,
    );
    expect(loaded.some((file) => file.endsWith('auth.py'))).toBe(true);
    expect(await failure('auth = 7')).toContain('is not an Auth object, but int');
    expect(await failure('del auth')).toContain('has no auth; it has Auth');
    expect(await failure('')).toContain('has no authenticate handler');
    expect(await failure('@auth.authenticate\ndef who(body): ...')).toContain(
      'authenticate has parameters that svc does not pass: body',
    );
    expect(
      await failure(`${anybody}\n@auth.on(resources="files")\nasync def files(ctx, value): ...`),
    ).toContain('files');
    expect(await failure('import os; os._exit(3)')).toContain('exit code 3');
  });

  it('is served again after its process has ended', async () => {
    const { user } = await open(`import os
@auth.authenticate
async def who(authorization):
    if authorization == "crash":
        os._exit(1)
    return "ann"
`);
    await expect(user({ headers: { authorization: 'crash' } })).rejects.toMatchObject({
      code: 'unavailable',
    });
    await eventually(async () => expect(await user()).toEqual({ identity: 'ann' }));
  });

  it('is served again after a handler has blocked its event loop', async () => {
    const { user } = await open(
      `import time
@auth.authenticate
async def who(authorization):
    if authorization == "block":
        time.sleep(3600)
    return "ann"
`,
      { timeoutMs: 200 },
    );
    await expect(user({ headers: { authorization: 'block' } })).rejects.toMatchObject({
      code: 'unavailable',
    });
    await eventually(async () => expect(await user()).toEqual({ identity: 'ann' }));
  });

  it('may take longer to import than its handlers have time', async () => {
    const { user, dir } = await open(
      `import os, time
if os.path.exists(__file__ + ".slow"):
    time.sleep(4.5)
@auth.authenticate
async def who(authorization: str | None):
    if authorization == "end":
        os._exit(1)
    return "ann"
`,
      { timeoutMs: 200 },
    );
    writeFileSync(join(dir, 'auth.py.slow'), '');
    await expect(user({ headers: { authorization: 'end' } })).rejects.toThrow(/auth process has ended/);
    // The new process imports the file for longer than the limit of the call and the time that a blocked event loop has to respond.
    await eventually(async () => expect(await user()).toMatchObject({ identity: 'ann' }));
  });

  it('keeps its process when a handler raises SystemExit, or prints', async () => {
    const { user } = await open(`import sys, os
@auth.authenticate
async def who(authorization):
    print("someone comes")
    if authorization == "exit":
        sys.exit(2)
    if authorization == "interrupt":
        raise KeyboardInterrupt
    return str(os.getpid())
`);
    const before = await user();
    for (const way of ['exit', 'interrupt'])
      await expect(user({ headers: { authorization: way } })).rejects.toThrow(/SystemExit|KeyboardInterrupt/);
    expect(await user()).toEqual(before);
  });
});

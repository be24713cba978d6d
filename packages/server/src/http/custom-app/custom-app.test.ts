import { Hono } from 'hono';
import { Hono as HonoOf4 } from 'hono-4-0';
import { describe, expect, it } from 'vitest';
import { buildTestApp, startTestApp, type TestApp } from '../../../test/http-app.ts';
import type { CustomApp } from './custom-app.ts';
import type { UserApp } from './user-app.ts';

const asUser = (app: Hono): UserApp => app as unknown as UserApp;

describe('a custom app', () => {
  it('whose middleware could not parse the body leaves the error to the built-in route', async () => {
    const app = new HonoOf4()
      .use(async (context, next) => {
        await context.req.json().catch(() => undefined);
        await next();
      })
      .onError((_error, context) => context.text('its own page', 500));
    await using server = await startTestApp({}, { customApp: app as unknown as UserApp });
    const response = await fetch(`${server.url}/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"limit"',
    });
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'bad_request' }]);
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('gets webhooks of any size from the server, although bodies of clients are limited', async () => {
    const app = new Hono().post('/hooks', async (context) => context.text(await context.req.text()));
    await using built = buildTestApp({}, { customApp: asUser(app), limits: { bodyBytes: 100 } });
    const request = () => new Request('http://localhost/hooks', { method: 'POST', body: 'x'.repeat(1000) });
    const custom = built.app as CustomApp;
    expect((await custom.fetch(request())).status).toBe(413);
    const received = await custom.fetchCustom(request());
    expect([received.status, await received.text()]).toEqual([200, 'x'.repeat(1000)]);
  });

  it('of two servers logs its errors where they happen', async () => {
    const app = new Hono().get('/throws', () => {
      throw new Error('no');
    });
    const customApp = asUser(app);
    await using first = await startTestApp({}, { customApp });
    await using second = await startTestApp({}, { customApp });
    const errorsOf = ({ lines }: TestApp) => lines.filter(({ level }) => level === 'error').length;
    expect((await fetch(`${second.url}/throws`)).status).toBe(500);
    expect([errorsOf(first), errorsOf(second)]).toEqual([0, 1]);
    expect((await fetch(`${first.url}/throws`)).status).toBe(500);
    expect([errorsOf(first), errorsOf(second)]).toEqual([1, 1]);
  });

  it('may send a request to itself, which has no server', async () => {
    const app = new Hono().get('/inner', (context) => context.text(context.req.path));
    app.get('/outer/:path', async (context) => app.request(`/${context.req.param('path')}`));
    app.get('/throws', () => {
      throw new Error('no');
    });
    await using server = await startTestApp({}, { customApp: asUser(app) });
    const call = async (path: string) => (await fetch(`${server.url}/outer/${path}`)).status;
    expect(await Promise.all([call('inner'), call('missing'), call('throws')])).toEqual([200, 404, 500]);
    expect(server.lines.filter(({ level }) => level === 'error')).toMatchObject([{ err: { message: 'no' } }]);
  });
});

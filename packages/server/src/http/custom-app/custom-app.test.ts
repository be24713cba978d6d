import { Hono } from 'hono';
import { Hono as HonoOf4 } from 'hono-4-0';
import { describe, expect, it } from 'vitest';
import { startTestApp } from '../test-app.ts';
import type { UserApp } from './user-app.ts';

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
});

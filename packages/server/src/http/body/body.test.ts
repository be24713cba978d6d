import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { RawJson } from '../../api/handlers.ts';
import type { UserApp } from '../custom-app/user-app.ts';
import { startTestApp } from '../../../test/http-app.ts';

const large = JSON.stringify({ metadata: { large: 'x'.repeat(70_000) } });
const headers = { 'content-type': 'application/json' };

describe('the memory of a request', () => {
  it.each<[string, RequestInit, UserApp | undefined]>([
    ['a length', { body: large }, undefined],
    ['no length', { body: new Blob([large]).stream(), duplex: 'half' }, undefined],
    [
      'middleware that has read it',
      { body: large },
      new Hono().use(async (context, next) => {
        await context.req.json();
        await next();
      }) as unknown as UserApp,
    ],
  ])('is that of its body, once it is read: %s', async (_, init, customApp) => {
    let used: number | undefined;
    await using app = await startTestApp(
      {
        search: () => {
          used = app.parsing.memory.used;
          return new RawJson('{}');
        },
      },
      { customApp },
    );
    const { status } = await fetch(`${app.url}/search`, { method: 'POST', headers, ...init });
    expect({ status, used }).toEqual({ status: 200, used: large.length });
    expect(app.parsing.memory.used).toBe(0);
  });
});

import { type Context, Hono } from 'hono';
import { Hono as HonoOf4 } from 'hono-4-0';
import { describe, expect, it } from 'vitest';
import { innerRequest } from './inner-request.ts';
import type { UserContext } from './user-app.ts';

const type = 'application/json';

describe.each([
  ['this copy of hono', Hono],
  ['hono 4.0', HonoOf4 as unknown as typeof Hono],
])('the inner request of an app of %s', (_, App) => {
  /** The request after a middleware that does this. Without a length among the headers, as if the body were sent in chunks. */
  const after = async (
    middleware: (context: Context) => unknown,
    body: string,
    headers: Record<string, string> = { 'content-type': type },
  ): Promise<Request> => {
    const given = new Request('http://localhost/', { method: 'POST', body, headers });
    let inner: Promise<Request> | undefined;
    const app = new App()
      .use(async (context, next) => {
        await middleware(context);
        await next();
      })
      .notFound((context) => {
        inner = innerRequest(context as unknown as UserContext, given);
        return context.text('');
      });
    await app.fetch(given);
    if (inner === undefined) throw new Error('The app has not called the handler.');
    return inner;
  };

  it.each<[string, (context: Context) => unknown]>([
    ['json', ({ req }) => req.json()],
    ['text', ({ req }) => req.text()],
    ['arrayBuffer', ({ req }) => req.arrayBuffer()],
    ['blob', ({ req }) => req.blob()],
    ['a text as variable', (context) => context.set('body', '{"a":"ü"}')],
    ['bytes as variable', (context) => context.set('body', Buffer.from('{"a":"ü"}'))],
  ])('has the length of a body that middleware has read: %s', async (_how, read) => {
    const inner = await after(read, '{"a":"ü"}');
    expect(inner.headers.get('content-length')).toBe('10');
    expect(await inner.text()).toBe('{"a":"ü"}');
  });

  const ignoring =
    (read: (context: Context) => Promise<unknown>) =>
    async (context: Context): Promise<void> => {
      await read(context).catch(() => undefined);
    };

  it('has the body that middleware could not parse as JSON, or is refused', async () => {
    const inner = await after(
      ignoring(({ req }) => req.json()),
      '{"a"',
    ).catch((error: unknown) => error);
    if (inner instanceof Request) expect(await inner.text()).toBe('{"a"');
    else expect(inner).toMatchObject({ code: 'bad_request', cause: expect.any(SyntaxError) });
  });

  it('has the body that middleware could not parse as a form, or is refused', async () => {
    const inner = await after(
      ignoring(({ req }) => req.parseBody()),
      'no parts',
      { 'content-type': 'multipart/form-data; boundary=x' },
    ).catch((error: unknown) => error);
    if (inner instanceof Request) expect(await inner.text()).toBe('no parts');
    else expect(inner).toMatchObject({ code: 'bad_request' });
  });

  it('has the body that middleware has failed to read twice', async () => {
    const inner = await after(async ({ req }) => {
      await req.text();
      await req.formData().catch(() => undefined);
    }, '{"a":1}');
    expect(await inner.text()).toBe('{"a":1}');
  });

  it('has no length when middleware has set a stream', async () => {
    const inner = await after((context) => context.set('body', new Blob(['{}']).stream()), '{"a":1}');
    expect(inner.headers.get('content-length')).toBeNull();
    expect(await inner.text()).toBe('{}');
  });
});

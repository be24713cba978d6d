// Requests of a program that contains the server, as Fetch API Requests.
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import type { UserApp } from '../custom-app/user-app.ts';
import { type BuiltTestApp, buildTestApp, testEventSource, ways } from '../test-app.ts';
import { embed, type EmbeddedOptions } from './embedded.ts';

const failingDownload = (): Response => {
  const chunks = ['half'];
  return new Response(
    new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.error(new Error('upstream is gone'));
        else controller.enqueue(Buffer.from(chunk));
      },
    }),
  );
};

const open = (
  build: BuiltTestApp,
  guard: EmbeddedOptions['guard'] = {},
): ((path: string, init?: RequestInit) => Promise<Response>) => {
  const { app, logger } = build;
  const { fetch } = embed({ app, prefix: '', guard, logger });
  return (path, init) => fetch(new Request(`http://app.example${path}`, init));
};

const asUser = (app: Hono): UserApp => app as unknown as UserApp;

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const requestsOf = ({ lines }: BuiltTestApp) => lines.filter(({ msg }) => msg === 'request');

describe('a response to a containing program', () => {
  it('fails when the body of a custom route fails', async () => {
    await using built = buildTestApp(
      {},
      { customApp: asUser(new Hono().get('/download', () => failingDownload())) },
    );
    const response = await open(built)('/download');
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('upstream is gone');
    expect(built.lines).toMatchObject([
      { msg: 'request', route: '/download', status: 200 },
      { msg: 'a response of http.app failed while it was sent' },
    ]);
  });

  it.each(ways)('fails when it is a stream that is read too slowly$way', async ({ customApp }) => {
    const { stream, sink } = testEventSource();
    await using built = buildTestApp({ watch: () => stream }, { customApp, heartbeatMs: 5 });
    const response = await open(built)('/watch');
    const writer = await sink;
    await eventually(() => {
      writer.send({ event: 'values', data: 'x'.repeat(500_000) });
      expect(built.lines.map(({ msg }) => msg)).toContain('stream client too slow');
    });
    await expect(response.text()).rejects.toThrow();
  });

  it.each(ways)('is logged once when its reader cancels it$way', async ({ customApp }) => {
    const { stream, sink, stopped } = testEventSource();
    const observed: string[] = [];
    const observe = (_method: string, route: string) => void observed.push(route);
    await using built = buildTestApp({ watch: () => stream }, { customApp, observe });
    const response = await open(built)('/watch');
    (await sink).send({ event: 'values', data: '1' });
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = reader?.read();
    // The source is read in this turn.
    await turn();
    await reader?.cancel();
    await Promise.all([waiting, stopped]);
    await eventually(() => expect(requestsOf(built).length).toBeGreaterThan(0));
    await turn();
    expect(requestsOf(built)).toMatchObject([{ route: '/watch', status: 200 }]);
    expect(observed).toEqual(['/watch']);
  });
});

import type { Client, PlatformClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { findById } from './find-by-id.ts';

const id = '0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f';
const threadId = id.replace('0195', '0196');
const traceId = id.replace('0195', '0197');
const { signal } = new AbortController();

/** A server with these threads, pages of runs, and trace runs, and the requests for runs that it gets. */
const server = (
  threads: string[],
  pages: string[][],
  spans: { trace_id: string; thread?: string }[] = [],
) => {
  const asked: unknown[] = [];
  const client = {
    threads: { search: () => Promise.resolve(threads.map((thread) => ({ thread_id: thread }))) },
    runs: {
      searchPage: (body: { cursor?: string; thread_id?: string }) => {
        asked.push(body.thread_id ?? body.cursor);
        const page = Number(body.cursor ?? 0);
        const runs = (pages[page] ?? []).map((run) => ({ run_id: run, thread_id: threadId }));
        return Promise.resolve({ runs, next: page + 1 < pages.length ? String(page + 1) : undefined });
      },
    },
  } as unknown as Client;
  const runs = spans.map(({ trace_id, thread }) => ({
    trace_id,
    extra: { metadata: { thread_id: thread } },
  }));
  const platform = { traces: { query: () => Promise.resolve({ runs }) } } as unknown as PlatformClient;
  return { clients: { client, platform: spans.length > 0 ? platform : undefined }, asked };
};

it('finds a thread', async () => {
  const { clients, asked } = server([id], []);
  expect(await findById(clients, id.toUpperCase(), signal)).toEqual([{ kind: 'thread', threadId: id }]);
  expect(asked).toEqual([]);
});

it('finds a run among the newest ones, and stops after five pages', async () => {
  const run = { kind: 'run', runId: id, threadId };
  expect(await findById(server([], [['x'], [id]]).clients, id, signal)).toEqual([run]);
  const many = server([], [['1'], ['2'], ['3'], ['4'], ['5'], [id]]);
  expect(await findById(many.clients, id, signal)).toEqual([]);
  expect(many.asked).toEqual([undefined, '1', '2', '3', '4']);
});

it('finds a trace and its run, by the thread id in the metadata of the trace', async () => {
  const { clients, asked } = server([], [[id]], [{ trace_id: id, thread: threadId }]);
  expect(await findById(clients, id, signal)).toEqual([
    { kind: 'run', runId: id, threadId },
    { kind: 'trace', traceId: id, spanId: id },
  ]);
  expect(asked).toEqual([threadId]);
});

it('finds a span in its trace, without a search of runs', async () => {
  const { clients, asked } = server([], [], [{ trace_id: traceId }]);
  expect(await findById(clients, id, signal)).toEqual([{ kind: 'trace', traceId, spanId: id }]);
  expect(asked).toEqual([]);
});

import type { Client, PlatformClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { findById } from './palette.tsx';

const id = '0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f';
const threadId = id.replace('0195', '0196');
const traceId = id.replace('0195', '0197');
const { signal } = new AbortController();

/** A server with these threads, runs and trace runs, and the ids of the runs that it is asked for. */
const server = (threads: string[], runs: string[], spans: { trace_id: string }[] = []) => {
  const asked: unknown[] = [];
  const client = {
    threads: { search: () => Promise.resolve(threads.map((thread) => ({ thread_id: thread }))) },
    runs: {
      search: (body: { run_id?: string }) => {
        asked.push(body.run_id);
        return Promise.resolve(
          runs.filter((run) => run === body.run_id).map(() => ({ thread_id: threadId })),
        );
      },
    },
  } as unknown as Client;
  const platform = {
    traces: { query: () => Promise.resolve({ runs: spans }) },
  } as unknown as PlatformClient;
  return { clients: { client, platform: spans.length > 0 ? platform : undefined }, asked };
};

it('finds a thread', async () => {
  const { clients } = server([id], []);
  expect(await findById(clients, id.toUpperCase(), signal)).toEqual([{ kind: 'thread', threadId: id }]);
});

it('finds a run with one request, by its id', async () => {
  const { clients, asked } = server([], ['x', id]);
  expect(await findById(clients, id.toUpperCase(), signal)).toEqual([{ kind: 'run', runId: id, threadId }]);
  expect(asked).toEqual([id]);
});

it('finds a trace and its run', async () => {
  const { clients } = server([], [id], [{ trace_id: id }]);
  expect(await findById(clients, id, signal)).toEqual([
    { kind: 'run', runId: id, threadId },
    { kind: 'trace', traceId: id, spanId: id },
  ]);
});

it('finds a span in its trace', async () => {
  const { clients } = server([], [], [{ trace_id: traceId }]);
  expect(await findById(clients, id, signal)).toEqual([{ kind: 'trace', traceId, spanId: id }]);
});

it('finds nothing for an unknown id', async () => {
  expect(await findById(server([], ['x']).clients, id, signal)).toEqual([]);
});

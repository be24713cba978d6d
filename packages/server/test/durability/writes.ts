// Every kind of write that a client can have acknowledged, each with a check that it is stored, once.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Client, PlatformClient } from '@svc/sdk';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { folderView } from '../exports/export-audit.ts';
import type { Sink } from '../webhooks/sink.ts';

export interface Api {
  client: Client;
  platform: PlatformClient;
  /** Of destinations with a relative path. */
  exportFolder: string;
}

/** One write of which the other objects are prepared. */
export interface Write {
  /** The last request before the kill. */
  send(): Promise<unknown>;
  /** Expects, of the server that was started after the kill, what `send` has acknowledged. */
  check(api: Api): Promise<void>;
}

const input = { messages: [{ role: 'user', content: 'hello' }] };

const newThread = async ({ client }: Api): Promise<string> => (await client.threads.create()).thread_id;

/** An hour old: an export waits for trace runs that have just begun. */
const traceTime = (): string => new Date(Date.now() - 3_600_000).toISOString();

const trace = () => ({
  id: randomUUID(),
  name: 'call',
  run_type: 'chain' as const,
  start_time: traceTime(),
  end_time: traceTime(),
  inputs: { text: 'hello' },
});

const waiting = async (api: Api): Promise<string> => {
  const thread_id = await newThread(api);
  await api.client.runs.wait(thread_id, 'approval', { input: {} });
  return thread_id;
};

export const writes: Record<string, (api: Api, sink: Sink) => Promise<Write>> = {
  thread: async ({ client }) => {
    const thread_id = randomUUID();
    const metadata = { thread: thread_id };
    return {
      send: () => client.threads.create({ threadId: thread_id, metadata }),
      check: async (after) => {
        expect(await after.client.threads.search({ metadata })).toMatchObject([{ thread_id, metadata }]);
      },
    };
  },
  'metadata of a thread': async (api) => {
    const thread_id = await newThread(api);
    return {
      send: () => api.client.threads.update(thread_id, { metadata: { changed: true } }),
      check: async ({ client }) => {
        expect(await client.threads.get(thread_id)).toMatchObject({ metadata: { changed: true } });
      },
    };
  },
  'deletion of a thread': async (api) => {
    const thread_id = await newThread(api);
    return {
      send: () => api.client.threads.delete(thread_id),
      check: async ({ client }) => {
        await expect(client.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
      },
    };
  },
  state: async (api) => {
    const thread_id = await newThread(api);
    await api.client.runs.wait(thread_id, 'chat', { input });
    return {
      send: () =>
        api.client.threads.updateState(thread_id, {
          values: { messages: [{ role: 'user', content: 'updated' }] },
        }),
      check: async ({ client }) => {
        const { values } = await client.threads.getState(thread_id);
        expect(
          (values as { messages: { content: string }[] }).messages.map(({ content }) => content),
        ).toEqual(['hello', 'echo hello', 'updated']);
      },
    };
  },
  run: async (api) => {
    const thread_id = await newThread(api);
    return {
      send: () => api.client.runs.create(thread_id, 'chat', { input }),
      check: async ({ client }) => {
        const runs = await client.runs.list(thread_id);
        expect(runs).toHaveLength(1);
        await client.runs.join(thread_id, runs[0]?.run_id ?? '');
        const { values } = await client.threads.getState(thread_id);
        expect((values as { messages: unknown[] }).messages).toHaveLength(2);
      },
    };
  },
  answer: async (api) => {
    const thread_id = await waiting(api);
    return {
      send: () => api.client.runs.create(thread_id, 'approval', { command: { resume: 'yes' } }),
      check: async ({ client }) => {
        const runs = await client.runs.list(thread_id);
        expect(runs).toHaveLength(2);
        for (const { run_id } of runs) await client.runs.join(thread_id, run_id);
        expect(await client.threads.get(thread_id)).toMatchObject({
          status: 'idle',
          values: { log: ['written', 'answered yes', 'sent'] },
        });
      },
    };
  },
  cancellation: async (api) => {
    const thread_id = await newThread(api);
    const { run_id } = await api.client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' } });
    await eventually(async () => {
      expect((await api.client.runs.get(thread_id, run_id)).status).toBe('running');
    });
    return {
      send: () => api.client.runs.cancel(thread_id, run_id),
      check: async ({ client }) => {
        await eventually(async () => {
          expect(await client.runs.list(thread_id)).toMatchObject([{ run_id, status: 'interrupted' }]);
        });
      },
    };
  },
  assistant: async ({ client }) => {
    const name = randomUUID();
    return {
      send: () => client.assistants.create({ graph_id: 'chat', name }),
      check: async (after) => {
        expect(await after.client.assistants.search({ name })).toMatchObject([{ name }]);
      },
    };
  },
  cron: async ({ client }) => {
    const metadata = { cron: randomUUID() };
    return {
      send: () => client.crons.create(null, 'chat', { schedule: '0 0 1 1 *', input, metadata }),
      check: async (after) => {
        expect(await after.client.crons.search({ metadata })).toHaveLength(1);
      },
    };
  },
  'store item': async ({ client }) => {
    const key = randomUUID();
    return {
      send: () => client.store.put(['kills'], key, { key }),
      check: async (after) => {
        expect(await after.client.store.get(['kills'], key)).toMatchObject({ value: { key } });
      },
    };
  },
  webhook: async (api, sink) => {
    const thread_id = await newThread(api);
    const { length } = sink.received;
    return {
      send: () => api.client.runs.wait(thread_id, 'chat', { input, webhook: sink.url }),
      check: async ({ client }) => {
        const runs = await client.runs.list(thread_id);
        expect(runs).toHaveLength(1);
        const [delivery] = await eventually(async () => {
          const deliveries = await client.runs.webhooks(thread_id, runs[0]?.run_id ?? '');
          expect(deliveries).toMatchObject([{ status: 'delivered' }]);
          return deliveries;
        });
        // A delivery whose answer was lost is repeated, with the same id.
        const ofThread = sink.received.slice(length).filter(({ body }) => body['thread_id'] === thread_id);
        expect(new Set(ofThread.map(({ headers }) => headers['svc-delivery-id']))).toEqual(
          new Set([delivery?.delivery_id]),
        );
      },
    };
  },
  trace: async ({ platform }) => {
    const run = trace();
    return {
      send: () => platform.traces.create(run),
      check: async (after) => {
        await eventually(async () => {
          expect((await after.platform.traces.query({ id: [run.id] })).runs).toMatchObject([{ id: run.id }]);
        });
      },
    };
  },
  feedback: async ({ platform }) => {
    const run = trace();
    await platform.traces.create(run);
    await eventually(() => platform.traces.get(run.id));
    return {
      send: () => platform.traces.addFeedback({ run_id: run.id, key: 'helpful', score: 1 }),
      check: async (after) => {
        expect(await after.platform.traces.feedback({ run: [run.id] })).toMatchObject([{ score: 1 }]);
      },
    };
  },
  export: async ({ platform, exportFolder }) => {
    const run = trace();
    const session_name = `kill ${run.id}`;
    await platform.traces.create({ ...run, session_name });
    const [project] = await eventually(async () => {
      const projects = await platform.projects.list({ name: session_name });
      expect(projects).toHaveLength(1);
      return projects;
    });
    const { id: bulk_export_destination_id } = await platform.destinations.create({
      destination_type: 'file',
      display_name: run.id,
      config: { path: run.id },
    });
    const start_time = new Date(Date.parse(run.start_time) - 60_000).toISOString();
    const end_time = new Date(Date.parse(run.start_time) + 1_000).toISOString();
    return {
      send: () =>
        platform.exports.create({
          bulk_export_destination_id,
          session_id: project?.id ?? '',
          start_time,
          end_time,
        }),
      check: async (after) => {
        const all = await after.platform.exports.list();
        const ofProject = all.filter(({ session_id }) => session_id === project?.id);
        expect(ofProject).toHaveLength(1);
        const id = ofProject[0]?.id ?? '';
        expect(await after.platform.exports.waitFor(id, { pollMs: 200 })).toMatchObject({
          status: 'COMPLETED',
          progress: { rows_written: 1, files: 1 },
        });
        const { files } = await after.platform.exports.manifest(id);
        const stored = await folderView(join(exportFolder, run.id)).objects();
        expect(stored.filter(({ key }) => key.endsWith('.parquet'))).toEqual(
          files.map(({ key, bytes }) => ({ key, size: bytes })),
        );
      },
    };
  },
};

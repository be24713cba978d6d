// Runs of a server that stops: those without a reader are given back at their next superstep, and another server continues them.
import { createClient, type Client } from '@svc/sdk';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { collect } from '../collect.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { sharedFolder } from '../folders.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { startTestServer, type TestServer } from '../server.ts';

const database = fixture(() => testDatabase());
const folder = sharedFolder();
/** Both projects have the graph `journal`. */
const start = (project = 'svc.json', role: 'all' | 'api' = 'all'): Promise<TestServer> =>
  startTestServer({
    project: fileURLToPath(new URL(`../faults/graphs/${project}`, import.meta.url)),
    database,
    settings: { role },
  });
const api = fixture(() => start('svc.json', 'api'));
const client = fixture((): Client => createClient({ apiUrl: api.url }));

const steps = 20;

/** A run of the graph `journal`, which takes six seconds: each of its steps writes a line to a file when it begins. */
const journal = () => {
  const file = join(folder, randomUUID());
  return {
    input: { marker: 'run', steps, ms: 300, taken: 0, file },
    executed: (): number[] =>
      existsSync(file)
        ? [...readFileSync(file, 'utf8').matchAll(/"run:(\d+)"/g)].map(([, step]) => Number(step))
        : [],
  };
};
const allSteps = Array.from({ length: steps }, (_, at) => at);
const never = new AbortController().signal;

describe('a run on a server that stops', () => {
  it.each([
    ['svc.json', {}],
    ['svc.json', { stream_resumable: true }],
    ['svc.json', { durability: 'sync' as const }],
    ...(whyNoPythonClients() === undefined ? ([['python.svc.json', {}]] as const) : []),
  ] as const)(
    'continues on another server from its next superstep, if it has no reader, and no step is executed twice: %s %j',
    async (project, options) => {
      const { input, executed } = journal();
      const { thread_id } = await client.threads.create();
      await using stopping = await start(project);
      const { run_id } = await client.runs.create(thread_id, 'journal', { input, ...options });
      await eventually(() => expect(executed()).not.toEqual([]));
      await stopping.drain(never);
      await eventually(async () =>
        expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'pending' }),
      );
      const before = executed().length;
      expect(before).toBeLessThan(steps);
      await using _other = await start(project);
      expect(await client.runs.join(thread_id, run_id)).toMatchObject({ taken: steps });
      expect(executed()).toEqual(allSteps);
      const ended = await client.runs.get(thread_id, run_id);
      expect(ended).toMatchObject({ status: 'success', attempt: 1 });
      expect(ended.lost_attempts ?? []).toEqual([]);
    },
  );

  it('sends each event once to a reader on another server', async () => {
    const { input, executed } = journal();
    const { thread_id } = await client.threads.create();
    await using stopping = await start();
    const { run_id } = await client.runs.create(thread_id, 'journal', {
      input,
      stream_mode: ['custom', 'updates'],
      stream_resumable: true,
    });
    const reading = collect(client.runs.joinStream(thread_id, run_id, { lastEventId: '-1' }));
    await eventually(() => expect(executed()).not.toEqual([]));
    await stopping.drain(never);
    await using _other = await start();
    const events = await reading;
    const custom = events.filter(({ event }) => event === 'custom');
    expect(custom.map(({ data }) => data)).toEqual(allSteps.map((step) => ({ step: `run:${step}` })));
    expect(events.filter(({ event }) => event === 'updates')).toHaveLength(steps);
  });

  it('ends there if it has a reader there', async () => {
    const { input, executed } = journal();
    await using stopping = await start();
    const reader = createClient({ apiUrl: stopping.url });
    const streamed = collect(reader.runs.stream(null, 'journal', { input }));
    const { thread_id } = await client.threads.create();
    const other = journal();
    const waited = reader.runs.wait(thread_id, 'journal', { input: other.input });
    for (const each of [executed, other.executed]) await eventually(() => expect(each()).not.toEqual([]));
    await stopping.drain(never);
    expect((await streamed).at(-1)).toMatchObject({ data: { taken: steps } });
    expect(await waited).toMatchObject({ taken: steps });
  });

  it.each(['stateless', 'durability exit'])(
    'ends there if another attempt would repeat it: %s',
    async (kind) => {
      const { input, executed } = journal();
      const thread_id = kind === 'stateless' ? null : (await client.threads.create()).thread_id;
      await using stopping = await start();
      const durability = kind === 'stateless' ? undefined : ('exit' as const);
      await client.runs.create(thread_id, 'journal', { input, ...(durability ? { durability } : {}) });
      await eventually(() => expect(executed()).not.toEqual([]));
      await stopping.drain(never);
      expect(executed()).toEqual(allSteps);
    },
  );
});

// The events of a step are stored with its checkpoint, or not at all: whatever ends an executor, a resumable stream contains all events of
// the stored state.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../eventually.ts';
import { logsMatchCheckpoints } from '../../faults/invariants/log.ts';
import type { Evidence } from '../../faults/invariants/evidence.ts';
import { startTestServer } from '../../server.ts';
import { survey } from './crashing-graphs.ts';
import { sharedFolder } from '../../folders.ts';
import { fixture } from '../../fixture.ts';

const project = fileURLToPath(new URL('./svc.json', import.meta.url));

const server = fixture(() => startTestServer({ project }));
const client = fixture(() => createClient({ apiUrl: server.url }));
const folder = sharedFolder();

const query: Evidence['query'] = (text, values = []) => server.database.query({ text }, values);

interface Logged {
  event: string;
  data: Record<string, unknown>;
}

interface Plan {
  graph: string;
  durability: 'sync' | 'async' | 'exit';
  input: Record<string, unknown>;
  stream_mode?: string[];
  /** The executor ends when this query returns a row for the run; at once when absent. */
  until?: string;
}

/** Runs the graph, which ends its executor; returns the events in its log. */
const run = async ({
  graph,
  durability,
  input,
  stream_mode = ['updates', 'values', 'custom'],
  until,
}: Plan) => {
  const { thread_id } = await client.threads.create();
  const go = until === undefined ? undefined : join(folder, thread_id);
  const options = { stream_mode: stream_mode as 'updates'[], stream_subgraphs: true, stream_resumable: true };
  const { run_id } = await client.runs.create(thread_id, graph, {
    input: { ...input, ...(go === undefined ? {} : { go }) },
    durability,
    ...options,
  });
  if (go !== undefined && until !== undefined) {
    await eventually(async () => expect(await query(until, [run_id])).not.toEqual([]));
    await writeFile(go, '');
  }
  await client.runs.join(thread_id, run_id);
  const ended = await client.runs.get(thread_id, run_id);
  expect(ended).toMatchObject({ status: 'success' });
  if (go !== undefined) expect(ended.lost_attempts).toHaveLength(1);
  const wrong = await logsMatchCheckpoints({ query } as Evidence);
  expect(wrong.filter((what) => what.includes(run_id))).toEqual([]);
  const log: Logged[] = [];
  for await (const { event, data } of client.runs.joinStream(thread_id, run_id, { lastEventId: '-1' }))
    log.push({ event, data: data as Logged['data'] });
  return { thread_id, log };
};

/** Node names of the updates at the root, in the order of the log. */
const updated = (log: Logged[]): string[] =>
  log.flatMap(({ event, data }) => (event === 'updates' ? Object.keys(data) : []));

const custom = (log: Logged[]): number => log.filter(({ event }) => event.startsWith('custom')).length;

/** A query for a checkpoint in which the node has run. */
const after = (node: string): string =>
  `select 1 from checkpoints c where c.run_id = $1 and c.wrote like '%"${node}"%'`;

type Question = { id?: string | undefined; value?: unknown };

/** Answers two of the three questions. */
const answers = (asked: Question[]): Record<string, string> => {
  expect(asked.map(({ value }) => String(value)).toSorted()).toEqual(['first?', 'second?', 'third?']);
  const idOf = (question: string): string => asked.find(({ value }) => value === question)?.id ?? '';
  return { [idOf('first?')]: 'a', [idOf('second?')]: 'b' };
};

/** The `updates` of the run that answers, by the engine alone, in one attempt. `go` says that the executor has ended. */
const surveyOfBareEngine = async (go: string): Promise<Logged[]> => {
  const graph = survey.builder.compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: go } };
  const { __interrupt__: asked } = (await graph.invoke({ go }, config)) as unknown as {
    __interrupt__: Question[];
  };
  const log: Logged[] = [];
  for await (const data of await graph.stream(new Command({ resume: answers(asked) }), {
    ...config,
    streamMode: 'updates',
  }))
    log.push({ event: 'updates', data });
  return log;
};

/** The `updates` in any order, because tasks are parallel, and without the ids of interrupts. */
const questionsAndResults = (log: Logged[]): string[] =>
  log
    .filter(({ event }) => event === 'updates')
    .map(({ data }) => JSON.stringify(data, (key, value: unknown) => (key === 'id' ? undefined : value)))
    .toSorted();

describe('a run whose executor ends after a step has been committed', () => {
  it.each([1, 4_000])('has the events of the step in its log (sync, %i events before)', async (events) => {
    const { log } = await run({ graph: 'speaker', durability: 'sync', input: { events } });
    expect(updated(log)).toEqual(['emitEvents', 'endOnce', 'last']);
    expect(custom(log)).toBe(events);
  });

  it.each([1, 4_000])('has the events of the step in its log (async, %i events before)', async (events) => {
    const { log } = await run({
      graph: 'speaker',
      durability: 'async',
      input: { events },
      until: after('emitEvents'),
    });
    expect(updated(log)).toEqual(['emitEvents', 'endOnce', 'last']);
    expect(custom(log)).toBe(events);
  });

  it.each([1, 1_000])(
    'has the events of the step in its log (mode events, %i events before)',
    async (events) => {
      const { log } = await run({
        graph: 'speaker',
        durability: 'sync',
        input: { events },
        stream_mode: ['updates', 'values', 'custom', 'events'],
      });
      expect(updated(log)).toEqual(['emitEvents', 'endOnce', 'last']);
      expect(custom(log)).toBe(events);
    },
  );

  it('repeats every step in the log when no step was stored (exit)', async () => {
    const { log } = await run({
      graph: 'speaker',
      durability: 'exit',
      input: { events: 1 },
      until: `select 1 from run_events where run_id = $1 and events like '%"emitEvents"%'`,
    });
    const attempts = log.flatMap(({ event }, at) => (event === 'metadata' ? [at] : []));
    expect(attempts).toHaveLength(2);
    expect(updated(log.slice(attempts[1]))).toEqual(['emitEvents', 'endOnce', 'last']);
  });

  it.each(['sync', 'async'] as const)(
    'has the updates and interrupts of a superstep that an earlier run has begun as often as the bare engine (%s)',
    async (durability) => {
      const { thread_id } = await client.threads.create();
      const go = join(folder, thread_id);
      await client.runs.wait(thread_id, 'survey', { input: { go } });
      const asked = Object.values((await client.threads.get(thread_id)).interrupts ?? {}).flat();
      const { run_id } = await client.runs.create(thread_id, 'survey', {
        command: { resume: answers(asked) },
        stream_mode: ['updates', 'values'],
        stream_resumable: true,
        durability,
      });
      await eventually(async () => {
        const text = `select distinct channel from checkpoint_writes where run_id = $1 and channel in ('log', '__interrupt__')`;
        expect(await query(text, [run_id])).toHaveLength(2);
      });
      await writeFile(go, '');
      await client.runs.join(thread_id, run_id);
      expect((await client.runs.get(thread_id, run_id)).lost_attempts).toHaveLength(1);
      const log: Logged[] = [];
      for await (const { event, data } of client.runs.joinStream(thread_id, run_id, { lastEventId: '-1' }))
        log.push({ event, data: data as Logged['data'] });
      expect(questionsAndResults(log)).toEqual(questionsAndResults(await surveyOfBareEngine(go)));
    },
  );

  it('has the events of a finished parallel task once', async () => {
    const written = `select 1 from checkpoints c join checkpoint_writes w using (thread_id, checkpoint_ns, checkpoint_id)
      where c.run_id = $1 and c.shape like '%"quick"%' and w.channel = 'log'`;
    for (const durability of ['sync', 'async'] as const) {
      const { log } = await run({ graph: 'branches', durability, input: { events: 4_000 }, until: written });
      expect(updated(log)).toEqual(['first', 'quick', 'slow', 'last']);
      expect(custom(log)).toBe(4_000);
    }
  });

  it('has the events of the steps of a subgraph once', async () => {
    for (const durability of ['sync', 'async'] as const) {
      const { log } = await run({
        graph: 'outer',
        durability,
        input: { events: 4_000 },
        until: `${after('emitEvents')} and c.checkpoint_ns <> ''`,
      });
      expect(updated(log)).toEqual(['first', 'inner', 'last']);
      const inner = log.flatMap(({ event, data }) => (event.startsWith('updates|') ? Object.keys(data) : []));
      expect(inner).toEqual(['emitEvents', 'endOnce']);
      expect(custom(log)).toBe(4_000);
    }
  });

  it('has the tokens of a message that is in the state', async () => {
    const { log } = await run({
      graph: 'talker',
      durability: 'sync',
      input: { messages: [{ role: 'user', content: 'hi' }] },
      stream_mode: ['messages-tuple', 'updates'],
    });
    const tokens = log.flatMap(({ event, data }) =>
      event === 'messages' ? [(data as unknown as [{ content: string }])[0].content] : [],
    );
    expect(tokens.join('')).toBe('afewwordsthatcomeoneaftertheother');
    expect(updated(log)).toEqual(['talk', 'endOnce']);
  });
});

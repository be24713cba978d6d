// The engine's test suite for checkpointers in Python, executed by a graph in a Python process: frames, Node process and database are those
// of a run.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InMemoryStore } from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import { executorEnvironment } from '../../src/config/environment.ts';
import type { StoredText } from '../../src/engine/codec/stored-text.ts';
import { createTextCodec } from '../../src/engine/codec/text-codec.ts';
import { OwnAddress } from '../../src/engine/executor/own-address.ts';
import { DrainControl } from '../../src/engine/executor/runs/run-input.ts';
import { PythonGraph } from '../../src/engine/python/python-graph.ts';
import { type GraphLayout, PythonHost } from '../../src/engine/python/python-host.ts';
import { pino } from 'pino';
import { testDatabase } from '../database.ts';
import { describeWithPythonProjects, projectsEnvironment } from '../python/projects/environment.ts';
import { ThreadSavers } from './thread-savers.ts';

const command = () => {
  const run_id = randomUUID();
  const thread_id = randomUUID();
  return {
    run_id,
    thread_id,
    assistant_id: randomUUID(),
    graph_id: 'suite',
    attempt: 1,
    lease_token: 1,
    temporary: false,
    blob_space: thread_id,
    config: { configurable: { thread_id } },
    metadata: {},
    checkpoint_metadata: {},
    kwargs: { input: {}, stream_mode: [], stream_subgraphs: false, durability: 'sync' as const },
    first_event_id: 0,
    awaited: false,
    streamed: false,
    logged: false,
    values_kept: false,
    has_inputs: false,
  };
};

describeWithPythonProjects('the checkpointer of Python graphs', () => {
  it("passes the engine's suite", async () => {
    await using database = await testDatabase();
    const saver = new ThreadSavers(database, { values: createTextCodec() });
    const host = new PythonHost({
      python: { interpreter: join(projectsEnvironment, 'bin/python3'), paths: [], storedClasses: [] },
      sources: {
        suite: { file: fileURLToPath(new URL('conformance.py', import.meta.url)), export: 'graph' },
      },
      env: executorEnvironment(),
      address: new OwnAddress(),
      logger: pino({ level: 'silent' }),
      onModules: () => undefined,
      onLost: () => undefined,
    });
    await using _ = { [Symbol.asyncDispose]: () => host.process.end() };
    const { header } = await host.load();
    const layout = (header['layouts'] as Record<string, GraphLayout>)['suite'];
    const graph = new PythonGraph(host, 'suite', { layout });
    const run = command();
    const signal = new AbortController().signal;
    const parts = { command: run, kwargs: run.kwargs, saver, store: new InMemoryStore(), signal };
    await graph.stream({ ...parts, control: new DrainControl(), tracer: undefined }, () => undefined);
    const state = await saver.getTuple({ configurable: { thread_id: run.thread_id, checkpoint_ns: '' } });
    const values = (state?.checkpoint.channel_values ?? {}) as Record<string, StoredText>;
    const { outcomes, missing } = JSON.parse(values['report']?.text ?? '{}') as {
      outcomes: Record<string, string | null>;
      missing: string[];
    };
    const tests = Object.entries(outcomes);
    expect(tests.filter(([, error]) => error !== null)).toEqual([]);
    expect(tests.length).toBeGreaterThan(40);
    // Threads are copied and pruned by the API.
    expect(missing).toEqual(['delete_for_runs', 'copy_thread', 'prune']);
  });
});

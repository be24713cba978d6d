// The cost of callback handlers in the bare engine, without a server and without storing anything: CPU of one process, alternating
// between handlers.
// Usage: npm run bench:callbacks
import { randomUUID } from 'node:crypto';
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { Callbacks } from '@langchain/core/callbacks/manager';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { MemorySaver } from '@langchain/langgraph';
import { callbacksOf } from '../packages/server/src/engine/executor/events/lean-callbacks.ts';
import { RunTracer } from '../packages/server/src/engine/executor/tracing/run-tracer.ts';
import { TraceOutbox } from '../packages/server/src/engine/executor/tracing/trace-outbox.ts';
import type { ParsedRunCommand } from '../packages/server/src/engine/dispatch/protocol.ts';
import { agentBuilder, builder } from './graph.ts';
import { fixed, median } from './report.ts';

class EmptyHandler extends BaseCallbackHandler {
  name = 'nothing';
}

interface Handlers {
  callbacks?: Callbacks;
  end?: () => void;
}

const blocks = 10;
const runs = 150;
const warmBlocks = 2;
const outbox = new TraceOutbox({ store: () => Promise.resolve(), warn: () => undefined });
const sent = (): Promise<void> => Promise.resolve();
const client = { createRun: sent, updateRun: sent } as never;

const kinds: Record<string, (run_id: string, graph: object) => Handlers> = {
  'nobody listens': () => ({}),
  'a handler that does nothing': () => ({ callbacks: [new EmptyHandler({ _awaitHandler: true })] }),
  'the same, by lean callbacks': (_, graph) => ({
    callbacks: callbacksOf(graph, [new EmptyHandler({ _awaitHandler: true })]),
  }),
  'the tracer of this server': (run_id, graph) => {
    const command = { run_id, thread_id: run_id, assistant_id: run_id, graph_id: 'graph' };
    const tracer = new RunTracer(
      { ...command, metadata: {}, kwargs: {}, config: { configurable: {} } } as unknown as ParsedRunCommand,
      'default',
      outbox,
    );
    return {
      callbacks: callbacksOf(graph, [tracer]),
      end: () => tracer.close({ status: 'success', error: null }),
    };
  },
  'the stock tracer, which sends nothing': () => ({ callbacks: [new LangChainTracer({ client })] }),
};

for (const [name, graph] of [
  ['one-node', builder.compile({ checkpointer: new MemorySaver() })],
  ['agent', agentBuilder.compile({ checkpointer: new MemorySaver() })],
] as const) {
  const cpuMs = new Map<string, number[]>(Object.keys(kinds).map((kind) => [kind, []]));
  for (let block = -warmBlocks; block < blocks; block++) {
    for (const [kind, listen] of Object.entries(kinds)) {
      const before = process.cpuUsage();
      for (let at = 0; at < runs; at++) {
        const id = randomUUID();
        const { callbacks, end } = listen(id, graph);
        const metadata = { run_id: id, thread_id: id, assistant_id: id, graph_id: 'graph', run_attempt: 1 };
        await graph.invoke(
          { messages: [{ role: 'user', content: 'hello' }] },
          { configurable: { thread_id: id }, runId: id, metadata, ...(callbacks ? { callbacks } : {}) },
        );
        end?.();
        await new Promise(setImmediate);
      }
      await outbox.flush();
      const { user, system } = process.cpuUsage(before);
      if (block >= 0) cpuMs.get(kind)?.push((user + system) / 1_000 / runs);
    }
  }
  const alone = median(cpuMs.get('nobody listens') ?? []);
  for (const [kind, values] of cpuMs) {
    const ms = median(values);
    process.stdout.write(`${name}, ${kind}: ${fixed(ms)} ms, ${fixed((ms / alone - 1) * 100, 0)} % more\n`);
  }
}

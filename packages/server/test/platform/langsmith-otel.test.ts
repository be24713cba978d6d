// Runs of the stock tracer in its OpenTelemetry mode (LANGSMITH_OTEL_ENABLED), with its own exporter and span processor.
import { AsyncLocalStorage } from 'node:async_hooks';
import { context, type Context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import type { TraceRun } from '@svc/contract';
import { Client } from 'langsmith';
import { LangSmithOTLPTraceExporter } from 'langsmith/experimental/otel/exporter';
import { LangSmithOTLPSpanProcessor } from 'langsmith/experimental/otel/processor';
import { getCurrentRunTree, traceable } from 'langsmith/traceable';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';

/** Where `initializeOTEL` of the stock client puts the API. It is not called here: it needs one more package. */
const shared = globalThis as unknown as Record<symbol, unknown>;
const apis = { [Symbol.for('ls:otel_trace')]: trace, [Symbol.for('ls:otel_context')]: context };

const storage = new AsyncLocalStorage<Context>();
const contexts: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (given, work, self, ...args) => storage.run(given, () => work.apply(self, args)),
  bind: (_, target) => target,
  enable: () => contexts,
  disable: () => contexts,
};

const platform = fixture(() => startPlatform());
const tracingBefore = process.env['LANGSMITH_TRACING'];
beforeAll(async () => {
  process.env['LANGSMITH_TRACING'] = 'true';
  context.setGlobalContextManager(contexts);
  Object.assign(shared, apis);
});
afterAll(async () => {
  for (const name of Object.getOwnPropertySymbols(apis)) delete shared[name];
  trace.disable();
  context.disable();
  if (tracingBefore === undefined) delete process.env['LANGSMITH_TRACING'];
  else process.env['LANGSMITH_TRACING'] = tracingBefore;
});

it('a run of the stock tracer with OpenTelemetry is stored once, under the id that the application knows', async () => {
  const exporter = new LangSmithOTLPTraceExporter({
    url: `${platform.apiUrl}/otel/v1/traces`,
    headers: { 'x-api-key': platform.key },
  });
  const processor = new LangSmithOTLPSpanProcessor(exporter);
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }));
  const client = new Client({ tracingMode: 'otel', apiUrl: platform.apiUrl, apiKey: platform.key });
  const known: string[] = [];
  const shout = traceable((text: string) => Promise.resolve(text.toUpperCase()), {
    name: 'shout',
    run_type: 'tool',
    client,
  });
  const greet = traceable(
    (name: string) => {
      const { id, trace_id } = getCurrentRunTree();
      known.push(id, trace_id);
      return shout(`hello ${name}`);
    },
    { name: 'greet', client },
  );
  expect(await greet('Ada')).toBe('HELLO ADA');
  await client.awaitPendingTraceBatches();
  await processor.forceFlush();

  const start_time = new Date(Date.now() - 3_600_000).toISOString();
  const { body } = await platform.call('POST', '/runs/query', { json: { start_time } });
  const { runs } = body as { runs: TraceRun[] };
  const root = runs.find(({ name }) => name === 'greet');
  expect(known).toEqual([root?.id, root?.id]);
  expect(
    runs.map(({ name, run_type, parent_run_id, trace_id, inputs, outputs }) => ({
      name,
      run_type,
      parent_run_id,
      trace_id,
      inputs,
      outputs,
    })),
  ).toEqual([
    {
      name: 'shout',
      run_type: 'tool',
      parent_run_id: root?.id,
      trace_id: root?.id,
      inputs: { input: 'hello Ada' },
      outputs: { outputs: 'HELLO ADA' },
    },
    {
      name: 'greet',
      run_type: 'chain',
      parent_run_id: null,
      trace_id: root?.id,
      inputs: { input: 'Ada' },
      outputs: { outputs: 'HELLO ADA' },
    },
  ]);
});

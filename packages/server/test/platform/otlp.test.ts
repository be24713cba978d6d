// OpenTelemetry with the official exporters, in protobuf and in JSON, compressed or not.
import { randomBytes } from 'node:crypto';
import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Project, TraceRun } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';

const platform = fixture(() => startPlatform());

type Exporter = Pick<ProtobufExporter, 'export' | 'shutdown'>;
type Options = NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>;

const optionsOf = (more: Options = {}): Options => ({
  url: `${platform.apiUrl}/otel/v1/traces`,
  headers: { 'x-api-key': platform.key },
  ...more,
});

const gzip = 'gzip' as NonNullable<Options['compression']>;
const encodings: [string, () => Exporter][] = [
  ['protobuf', () => new ProtobufExporter(optionsOf())],
  ['protobuf in gzip', () => new ProtobufExporter(optionsOf({ compression: gzip }))],
  ['JSON', () => new JsonExporter(optionsOf())],
  ['JSON in gzip', () => new JsonExporter(optionsOf({ compression: gzip }))],
];

/** The spans of the given work, in the order in which they ended. */
const spansOf = (
  work: (start: (name: string, parent?: Span, at?: [number, number]) => Span) => void,
  service = 'shop',
): ReadableSpan[] => {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'deployment.environment': 'test' }),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const tracer = provider.getTracer('agents', '1.2.3');
  work((name, parent, at) =>
    tracer.startSpan(
      name,
      at === undefined ? {} : { startTime: at },
      parent === undefined ? context.active() : trace.setSpan(context.active(), parent),
    ),
  );
  return memory.getFinishedSpans();
};

const send = (exporter: Exporter, spans: ReadableSpan[]): Promise<void> =>
  new Promise((resolve, reject) => {
    exporter.export(spans, ({ code, error }) =>
      code === 0 ? resolve() : reject(error ?? new Error('the exporter failed')),
    );
  });

const idOf = (span: Span | ReadableSpan): string => {
  const { spanId } = span.spanContext();
  return `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
};

const read = async (span: Span | ReadableSpan): Promise<TraceRun> => {
  const { status, body } = await platform.call('GET', `/runs/${idOf(span)}`);
  expect(status).toBe(200);
  return body as TraceRun;
};

const readTrace = async (root: Span | ReadableSpan): Promise<TraceRun[]> => {
  const { body } = await platform.call('POST', '/runs/query', { json: { trace: idOf(root), limit: 100 } });
  return (body as { runs: TraceRun[] }).runs;
};

const projectOf = async (run: TraceRun): Promise<string | undefined> => {
  const { body } = await platform.call('GET', '/sessions');
  return (body as Project[]).find(({ id }) => id === run.session_id)?.name;
};

describe.each(encodings)('spans sent as %s', (_, newExporter) => {
  it('are a trace, each below its parent', async () => {
    const [root, step, model] = spansOf((start) => {
      const first = start('agent', undefined, [1_795_205_100, 123_456_789]);
      const second = start('step', first);
      const third = start('model', second);
      third.setAttributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-x',
        'gen_ai.request.temperature': 0.5,
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: 'hé \u{1F600}' }]),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', content: 'ho' }]),
        'gen_ai.usage.input_tokens': 7,
        'gen_ai.usage.output_tokens': 5,
        'gen_ai.conversation.id': 'talk-1',
        list: ['a', 'b'],
        whole: 12,
        part: 1.5,
        yes: true,
      });
      third.end();
      second.end();
      first.end([1_795_205_101, 1]);
    }).toReversed();
    if (!root || !step || !model) throw new Error('there are three spans');
    await send(newExporter(), [model, step, root]);

    const runs = await readTrace(root);
    expect(runs.map(({ id }) => id).toSorted()).toEqual([root, step, model].map(idOf).toSorted());
    const [first, second, third] = [await read(root), await read(step), await read(model)];
    expect(first).toMatchObject({
      name: 'agent',
      run_type: 'chain',
      status: 'success',
      parent_run_id: null,
      start_time: `${new Date(1_795_205_100_000).toISOString().slice(0, 19)}.123456Z`,
      extra: {
        metadata: { 'service.name': 'shop', 'deployment.environment': 'test' },
        otel: { scope: { name: 'agents', version: '1.2.3' } },
      },
    });
    expect(first.end_time).toMatch(/:\d\d\.000000Z$/);
    expect(second).toMatchObject({ parent_run_id: idOf(root), parent_run_ids: [idOf(root)] });
    expect(third).toMatchObject({
      parent_run_ids: [idOf(root), idOf(step)],
      run_type: 'llm',
      inputs: { messages: [{ role: 'user', content: 'hé \u{1F600}' }] },
      outputs: { messages: [{ role: 'assistant', content: 'ho' }] },
      prompt_tokens: 7,
      completion_tokens: 5,
      total_tokens: 12,
      thread_id: 'talk-1',
      extra: {
        metadata: {
          ls_model_name: 'gpt-x',
          ls_provider: 'openai',
          list: ['a', 'b'],
          whole: 12,
          part: 1.5,
          yes: true,
        },
        invocation_params: { model: 'gpt-x', temperature: 0.5 },
      },
    });
    expect(await projectOf(first)).toBe('shop');
  });

  it('contain errors', async () => {
    const [thrown, plain, handled] = spansOf((start) => {
      const one = start('thrown');
      one.recordException(new TypeError('it broke'));
      one.setStatus({ code: SpanStatusCode.ERROR, message: 'it broke' });
      one.end();
      const two = start('plain');
      two.setStatus({ code: SpanStatusCode.ERROR, message: 'refused' });
      two.end();
      const three = start('handled');
      three.recordException(new Error('never mind'));
      three.setStatus({ code: SpanStatusCode.OK });
      three.end();
    });
    if (!thrown || !plain || !handled) throw new Error('there are three spans');
    await send(newExporter(), [thrown, plain, handled]);
    const run = await read(thrown);
    expect(run).toMatchObject({ status: 'error', events: [{ name: 'exception' }] });
    expect(run.error).toMatch(/^TypeError: it broke\n\s+at /);
    expect(await read(plain)).toMatchObject({ status: 'error', error: 'refused' });
    expect(await read(handled)).toMatchObject({ status: 'success', error: null });
  });
});

describe('spans', () => {
  it('find their parents in any order and batches, and when they are repeated', async () => {
    const spans = spansOf((start) => {
      const chain = [start('s0')];
      for (let depth = 1; depth < 6; depth++) chain.push(start(`s${depth}`, chain.at(-1)));
      for (const span of chain.toReversed()) span.end();
    }).toReversed();
    const exporter = new ProtobufExporter(optionsOf());
    const [root] = spans;
    if (!root) throw new Error('there are spans');
    for (const at of [3, 5, 3, 1, 4, 0, 2, 0, 5]) await send(exporter, spans.slice(at, at + 1));
    const runs = await readTrace(root);
    expect(runs).toHaveLength(6);
    for (const [depth, span] of spans.entries())
      expect(runs.find(({ id }) => id === idOf(span))?.parent_run_ids).toEqual(
        spans.slice(0, depth).map(idOf),
      );
  });

  it('are stored when their parent never arrives', async () => {
    const [orphan, lost] = spansOf((start) => {
      const parent = start('lost');
      start('orphan', parent).end();
      parent.end();
    });
    if (!orphan || !lost) throw new Error('there are two spans');
    await send(new ProtobufExporter(optionsOf()), [orphan]);
    expect(await read(orphan)).toMatchObject({
      name: 'orphan',
      parent_run_id: idOf(lost),
      status: 'success',
    });
  });

  it('of two traces with the same span ids stay separate, also when they are repeated', async () => {
    const [ids, own] = [['1'.repeat(16), '2'.repeat(16)], randomBytes(8).toString('hex')];
    const sendTrace = async (trace_id: string, name: string): Promise<void> => {
      const spans = ids.map((spanId, index) => ({
        traceId: trace_id,
        spanId: spanId.slice(0, 8) + own.slice(8),
        parentSpanId: index === 0 ? '' : '1'.repeat(8) + own.slice(8),
        name,
        startTimeUnixNano: '1795205100000000000',
      }));
      for (const span of spans) {
        const json = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
        expect(await platform.call('POST', '/otel/v1/traces', { json })).toMatchObject({ body: {} });
      }
    };
    const [one, two] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    for (const [trace_id, name] of [
      [one, `one ${own}`],
      [two, `two ${own}`],
      [one, `one ${own}`],
      [two, `two ${own}`],
    ] as const)
      await sendTrace(trace_id, name);
    const { body } = await platform.call('POST', '/runs/query', { json: { limit: 100 } });
    const runs = (body as { runs: TraceRun[] }).runs.filter(({ name }) => name.endsWith(own));
    expect(runs).toHaveLength(4);
    for (const name of [`one ${own}`, `two ${own}`]) {
      const [root, child] = runs
        .filter((run) => run.name === name)
        .toSorted((a, b) => a.parent_run_ids.length - b.parent_run_ids.length);
      expect(child?.parent_run_ids).toEqual([root?.id]);
      expect(child?.trace_id).toBe(root?.id);
    }
  });

  it('are in the project of the header, which has priority over the service name', async () => {
    const [one] = spansOf((start) => start('one').end());
    const [two] = spansOf((start) => start('two').end(), 'unknown_service:node');
    if (!one || !two) throw new Error('there are two spans');
    const headers = { 'x-api-key': platform.key, 'langsmith-project': 'by header' };
    await send(new ProtobufExporter(optionsOf({ headers })), [one]);
    await send(new JsonExporter(optionsOf()), [two]);
    expect(await projectOf(await read(one))).toBe('by header');
    expect(await projectOf(await read(two))).toBe('default');
  });

  it.each([
    ['thread_id', 'session_id'],
    ['session.id', 'conversation_id'],
    ['gen_ai.conversation.id', 'thread_id'],
    ['session.id', 'gen_ai.conversation.id'],
  ])('belong to the thread that %s names, with priority over %s', async (later, sooner) => {
    const [one, two] = spansOf((start) => {
      for (const attributes of [{ [later]: 'later' }, { [later]: 'later', [sooner]: 'sooner' }]) {
        const span = start('talk');
        span.setAttributes(attributes);
        span.end();
      }
    });
    if (!one || !two) throw new Error('there are two spans');
    await send(new ProtobufExporter(optionsOf()), [one, two]);
    expect([(await read(one)).thread_id, (await read(two)).thread_id]).toEqual(['later', 'sooner']);
  });

  it('may follow the conventions of OpenInference', async () => {
    const [model, search] = spansOf((start) => {
      const one = start('model');
      one.setAttributes({
        'openinference.span.kind': 'LLM',
        'llm.model_name': 'm1',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'hi',
        'llm.input_messages.1.message.role': 'assistant',
        'llm.input_messages.1.message.tool_calls.0.tool_call.function.name': 'look',
        'llm.token_count.prompt': 3,
        'llm.token_count.total': 9,
        'output.value': '{"text":"ho"}',
        metadata: '{"thread_id":"t9","tier":"gold"}',
      });
      one.end();
      const two = start('search');
      two.setAttributes({
        'openinference.span.kind': 'RETRIEVER',
        'input.value': 'where?',
        'retrieval.documents.0.document.content': 'here',
        'retrieval.documents.999999999.document.content': 'there',
      });
      two.end();
    });
    if (!model || !search) throw new Error('there are two spans');
    await send(new JsonExporter(optionsOf()), [model, search]);
    expect(await read(model)).toMatchObject({
      run_type: 'llm',
      inputs: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', tool_calls: [{ function: { name: 'look' } }] },
        ],
      },
      outputs: { text: 'ho' },
      prompt_tokens: 3,
      total_tokens: 9,
      thread_id: 't9',
      extra: { metadata: { tier: 'gold' } },
    });
    expect(await read(search)).toMatchObject({
      run_type: 'retriever',
      inputs: { input: 'where?' },
      outputs: { documents: [{ content: 'here' }, { content: 'there' }] },
    });
  });

  it('are rejected with an unknown key and without a key', async () => {
    const [span] = spansOf((start) => start('x').end());
    if (!span) throw new Error('there is a span');
    const headers = { 'x-api-key': `svc_sk_${randomBytes(8).toString('hex')}` };
    await expect(send(new ProtobufExporter(optionsOf({ headers })), [span])).rejects.toThrow();
    await expect(send(new ProtobufExporter(optionsOf({ headers: {} })), [span])).rejects.toThrow();
    expect((await platform.call('GET', `/runs/${idOf(span)}`)).status).toBe(404);
  });
});

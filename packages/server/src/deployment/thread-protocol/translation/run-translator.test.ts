// Recorded and generated logs of runs, translated as a whole, in part, and without their beginning.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from './dialect.ts';
import { eventText, type NumberedEvent } from './protocol-event.ts';
import { type RunEnd, RunTranslator } from './run-translator.ts';

type Log = [name: string, data: unknown][];

const run = { run_id: '019a', first_seq: 4_096_000, graph_id: 'agent' };
const success: RunEnd = { status: 'success', error: null };

const recorded = (name: string): Log => {
  const file = fileURLToPath(new URL(`../../../../test/thread-protocol/logs/${name}.jsonl`, import.meta.url));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as [string, unknown]);
};

/** An event with the parameters that clients get. */
const asSent = (event: NumberedEvent): NumberedEvent => {
  const { params, ...sent } = JSON.parse(eventText(event)) as { params: NumberedEvent };
  const { event_id, seq, method } = event;
  expect(sent).toEqual({ type: 'event', event_id, seq, method });
  return { ...event, ...params };
};

/** The events of a log, without its first `from` events; without `end`, of a run in flight. */
const translate = (
  log: Log,
  {
    from = 0,
    end,
    dialect = 'javascript',
  }: { from?: number; end?: RunEnd | 'rollback'; dialect?: Dialect } = {},
) => {
  const translator = new RunTranslator(run, dialect);
  const events = translator.begin();
  for (const [id, [name, data]] of log.entries())
    if (id >= from) events.push(...translator.take(id, name, JSON.stringify(data)));
  if (end) events.push(...translator.end(end === 'rollback' ? undefined : end));
  return events.map(asSent);
};

const dataOf = (events: NumberedEvent[], channel: string) =>
  events.filter((event) => event.channel === channel).map(({ data }) => data as Record<string, unknown>);

const expectSequence = (events: NumberedEvent[]): void => {
  for (const [at, { seq }] of events.entries())
    if (at > 0) expect(seq).toBeGreaterThan(events[at - 1]?.seq ?? Infinity);
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
};

/** Checks the order of the events of messages, and returns the blocks of each message. */
const assemble = (events: NumberedEvent[]): Map<string, unknown[]> => {
  const messages = new Map<string, { open: number | undefined; blocks: unknown[]; isOver: boolean }>();
  for (const data of dataOf(events, 'messages')) {
    const key = String(data['run_id']);
    const message = messages.get(key) ?? { open: undefined, blocks: [], isOver: false };
    expect(message.isOver).toBe(false);
    switch (data['event']) {
      case 'message-start':
        expect(messages.has(key)).toBe(false);
        break;
      case 'content-block-start':
        expect(message.open).toBeUndefined();
        expect(data['index']).toBe(message.blocks.length);
        message.open = message.blocks.length;
        break;
      case 'content-block-delta':
        expect(data['index']).toBe(message.open);
        break;
      case 'content-block-finish':
        expect(data['index']).toBe(message.open);
        message.open = undefined;
        message.blocks.push(data['content']);
        break;
      default:
        expect(['message-finish', 'error']).toContain(data['event']);
        message.isOver = true;
        if (data['event'] === 'message-finish') expect(message.open).toBeUndefined();
    }
    messages.set(key, message);
  }
  return new Map([...messages].map(([key, { blocks }]) => [key, blocks]));
};

const task = 'model:1';
const metadata = { langgraph_checkpoint_ns: task, langgraph_node: 'model' };
const started: [string, unknown] = ['tasks', { id: '1', name: 'model', input: {}, interrupts: [] }];
const ended: [string, unknown] = [
  'tasks',
  { id: '1', name: 'model', result: {}, interrupts: [], error: null },
];
const chunk = (fields: object, id = 'm'): [string, unknown] => [
  'messages',
  [{ type: 'ai', id, content: '', tool_call_chunks: [], ...fields }, metadata],
];

describe.each([
  ['toolbox', 'javascript'],
  ['toolbox', 'python'],
  ['nested', 'javascript'],
  ['nested', 'python'],
] as const)('the recorded log %s for %s clients', (name, dialect) => {
  const log = recorded(name);
  const whole = translate(log, { end: success, dialect });

  it('has an increasing number and an id of its own for each event', () => expectSequence(whole));

  it('gives the same events when it is read in two parts', () => {
    for (let cut = 0; cut <= log.length; cut++) {
      const part = translate(log.slice(0, cut), { dialect });
      expect(part).toEqual(whole.slice(0, part.length));
    }
  });

  it('has the same events of some channels when others are not read', () => {
    const translator = new RunTranslator(run, dialect, new Set(['values', 'custom', 'messages', 'updates']));
    const events = translator.begin();
    for (const [id, [kind, data]] of log.entries())
      events.push(...translator.take(id, kind, JSON.stringify(data)));
    events.push(...translator.end(success));
    const read = (list: NumberedEvent[]) =>
      list.filter(({ channel }) => channel !== 'values' && channel !== 'custom').map(asSent);
    expect(read(events)).toEqual(read(whole));
    expect(events.map(({ event_id, seq }) => [event_id, seq])).toEqual(
      whole.map(({ event_id, seq }) => [event_id, seq]),
    );
  });

  it('gives no other events when its beginning was deleted', () => {
    const known = new Map(whole.map((event) => [event.event_id, event]));
    // The newest events of a log are kept; among them is the interrupt of the root graph.
    for (let from = 1; from < log.length - 1; from++) {
      const part = translate(log, { from, end: success, dialect });
      expectSequence(part);
      for (const { event_id, data, namespace, channel, seq, isOnce } of part) {
        const same = known.get(event_id);
        expect(same, event_id).toMatchObject({ data, channel });
        // Several logged events report an interrupt.
        if (isOnce) continue;
        expect(same?.namespace).toEqual(namespace);
        expect(Math.floor(seq / 16)).toBe(Math.floor((same?.seq ?? 0) / 16));
      }
    }
  });

  it('reports the interrupt once, and the end of each namespace', () => {
    expect(dataOf(whole, 'input')).toHaveLength(1);
    const open = new Set<string>();
    for (const { channel, namespace, data } of whole) {
      if (channel !== 'lifecycle') continue;
      const key = namespace.join('|');
      const { event } = data as { event: string };
      if (event === 'started' || event === 'running') open.add(key);
      else expect(open.delete(key)).toBe(true);
    }
    expect([...open]).toEqual([]);
    expect(whole.at(-1)?.data).toEqual({ event: 'interrupted', graph_name: 'agent' });
  });
});

describe.each(['toolbox', 'nested'])('Python clients get of the recorded log %s', (name) => {
  const log = recorded(name);
  const python = translate(log, { end: success, dialect: 'python' });

  it('messages and tools in the namespaces of their graphs', () => {
    const namespaces = (events: NumberedEvent[]) =>
      events
        .filter(({ channel }) => channel === 'messages' || channel === 'tools')
        .map(({ namespace }) => namespace);
    const ofTasks = namespaces(translate(log, { end: success }));
    expect(namespaces(python)).toEqual(ofTasks.map((namespace) => namespace.slice(0, -1)));
  });

  it('the start of each subgraph before its other events, and of nothing else', () => {
    const first = new Map<string, NumberedEvent>();
    for (const event of python.filter(({ namespace }) => namespace.length > 0))
      if (!first.has(event.namespace.join())) first.set(event.namespace.join(), event);
    expect(first.size).toBeGreaterThan(0);
    const starts = python.filter(({ data }) => (data as { event?: unknown } | null)?.event === 'started');
    expect(starts).toEqual([...first.values()]);
  });
});

describe('messages', () => {
  const textPart = fc.record({ content: fc.string({ minLength: 1, unit: 'grapheme' }) });
  const blockPart = fc.oneof(
    fc.record({
      content: fc.tuple(
        fc.record({ type: fc.constant('text'), text: fc.string({ minLength: 1 }), index: fc.nat(2) }),
      ),
    }),
    fc.record({
      content: fc.tuple(
        fc.record({
          type: fc.constant('reasoning'),
          reasoning: fc.string({ minLength: 1 }),
          index: fc.nat(2),
        }),
      ),
    }),
    fc.record({
      tool_call_chunks: fc.tuple(
        fc.record({ index: fc.nat(2), id: fc.constant('c'), name: fc.constant('tool'), args: fc.string() }),
      ),
    }),
  );
  const parts = fc.array(fc.tuple(fc.oneof(textPart, blockPart), fc.constantFrom('m1', 'm2', 'm3')), {
    maxLength: 40,
  });

  it('do not interleave blocks, whatever a model streams, and lose no text', () => {
    fc.assert(
      fc.property(parts, fc.boolean(), (list, isEnded) => {
        const log: Log = [
          started,
          ...list.map(([fields, id]) => chunk(fields, id)),
          ...(isEnded ? [ended] : []),
        ];
        const events = translate(log, { end: success });
        expectSequence(events);
        const blocks = assemble(events);
        if (!isEnded) return;
        for (const id of ['m1', 'm2', 'm3']) {
          const sent = list
            .filter(([, of]) => of === id)
            .map(([fields]) => ('content' in fields ? fields.content : ''))
            .map((content) =>
              typeof content === 'string'
                ? content
                : ((content?.[0] as { text?: string } | undefined)?.text ?? ''),
            );
          const got = (blocks.get(id) ?? []).map((block) => (block as { text?: string }).text ?? '');
          expect(got.join('')).toBe(sent.join(''));
        }
      }),
    );
  });

  it('have tool calls with parsed arguments, and usage', () => {
    const call = (args: string, first: object = {}) =>
      chunk({ tool_call_chunks: [{ index: 0, args, ...first }] });
    const log: Log = [
      started,
      chunk({ content: 'Let me see' }),
      call('{"ci', { id: 'c1', name: 'weather' }),
      call('ty":"Oslo"}'),
      chunk({ tool_call_chunks: [{ index: 1, id: 'c2', name: 'broken', args: '{' }] }),
      chunk({ usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } }),
      chunk({
        usage_metadata: {
          input_tokens: 0,
          output_tokens: 2,
          total_tokens: 2,
          output_token_details: { reasoning: 1 },
        },
        response_metadata: { finish_reason: 'tool_calls' },
      }),
      ended,
    ];
    const events = translate(log, { end: success });
    expect(assemble(events).get('m')).toEqual([
      { type: 'text', text: 'Let me see' },
      { type: 'tool_call', id: 'c1', name: 'weather', args: { city: 'Oslo' } },
      { type: 'invalid_tool_call', id: 'c2', name: 'broken', args: '{', error: expect.any(String) },
    ]);
    const deltas = dataOf(events, 'messages').flatMap(({ delta }) => delta ?? []);
    expect(deltas).toContainEqual({ type: 'tool-call-delta', args: 'ty":"Oslo"}' });
    expect(dataOf(events, 'messages').at(-1)).toMatchObject({
      event: 'message-finish',
      reason: 'tool_calls',
      usage: { input_tokens: 3, output_tokens: 6, total_tokens: 9, output_token_details: { reasoning: 1 } },
    });
  });

  it('that a node returns whole have all of their blocks at once, and are not repeated', () => {
    const whole: [string, unknown] = [
      'messages',
      [{ type: 'ai', id: 'm', content: 'done', tool_calls: [{ id: 'c', name: 'x', args: {} }] }, metadata],
    ];
    const tool: [string, unknown] = ['messages', [{ type: 'tool', id: 't', content: 'x' }, metadata]];
    const events = translate([started, whole, whole, tool, ended], { end: success });
    expect([...assemble(events)]).toEqual([
      [
        'm',
        [
          { type: 'text', text: 'done' },
          { type: 'tool_call', id: 'c', name: 'x', args: {} },
        ],
      ],
    ]);
    // Text begins empty, as that of a message that streams: clients may read deltas only.
    expect(dataOf(events, 'messages').slice(1, 3)).toMatchObject([
      { event: 'content-block-start', content: { type: 'text', text: '' } },
      { event: 'content-block-delta', delta: { type: 'text-delta', text: 'done' } },
    ]);
  });

  it('of a lost attempt end with an error, and tasks continue', () => {
    const log: Log = [
      ['metadata', { attempt: 1 }],
      started,
      chunk({ content: 'half' }, 'a'),
      ['metadata', { attempt: 2 }],
      started,
      chunk({ content: 'whole' }, 'b'),
      ended,
    ];
    const events = translate(log, { end: success });
    expectSequence(events);
    expect([...assemble(events)]).toEqual([
      ['a', []],
      ['b', [{ type: 'text', text: 'whole' }]],
    ]);
    const tasks = events.filter(
      ({ channel, namespace }) => channel === 'lifecycle' && namespace.length === 1,
    );
    expect(tasks.map(({ data }) => (data as { event: string }).event)).toEqual(['started', 'completed']);
  });
});

describe('the end of a run', () => {
  const last = (end: RunEnd | 'rollback', log: Log = []) => translate(log, { end }).at(-1)?.data;
  it.each([
    [success, { event: 'completed' }],
    [
      { status: 'interrupted', error: null },
      { event: 'interrupted', reason: 'cancelled' },
    ],
    ['rollback', { event: 'interrupted', reason: 'rollback' }],
    [
      { status: 'timeout', error: null },
      { event: 'failed', error: 'timeout' },
    ],
    [
      { status: 'error', error: '{"error":"E","message":"why"}' },
      { event: 'failed', error: 'why' },
    ],
  ] as [RunEnd | 'rollback', object][])('%j is the last event', (end, data) => {
    expect(last(end)).toEqual({ ...data, graph_name: 'agent' });
  });

  it('is an interrupt after a breakpoint', () => {
    expect(last(success, [['updates', { __interrupt__: [] }]])).toMatchObject({ event: 'interrupted' });
  });

  it('comes after more events of one logged event than have numbers', () => {
    const interrupts = Array.from({ length: 100 }, (_, at) => ({ id: `i${at}`, value: at }));
    const events = translate(
      [
        ['updates', { __interrupt__: interrupts }],
        ['values', { a: 1 }],
      ],
      { end: success },
    );
    expect(events).toHaveLength(103);
    expectSequence(events);
  });
});

it('events have the time of the newest checkpoint before them', () => {
  const id = '1f1e7528-5052-6f00-8000-3c32c6bae07a';
  const [begin, , values] = translate([
    ['checkpoint_refs', { id, step: 0, source: 'loop' }],
    ['values', {}],
  ]);
  expect(begin?.timestamp).toBe(Date.UTC(2025, 0, 1) + 1_000);
  expect(values?.timestamp).toBe(1795447703024);
});

describe('what a node writes', () => {
  it.each<[string, unknown, unknown]>([
    ['a text', 'a "payload"', { payload: 'a "payload"' }],
    ['nothing', null, { payload: null }],
    ['an object', { a: [1, '\u2028'] }, { payload: { a: [1, '\u2028'] } }],
    ['a payload without a name', { payload: 1 }, { payload: { payload: 1 } }],
    ['a name that is no text', { name: 1, payload: 1 }, { payload: { name: 1, payload: 1 } }],
    ['a name and a payload', { name: 'n', payload: { x: 1 } }, { name: 'n', payload: { x: 1 } }],
    ['a name, a payload and more', { name: 'n', payload: 1, b: 2 }, { name: 'n', payload: 1, b: 2 }],
    ['a name without a payload', { name: 'n', b: 2 }, { name: 'n', b: 2, payload: { name: 'n', b: 2 } }],
  ])('is the payload, or is named by the node: %s', (_, written, expected) => {
    const log: Log = [['custom|node:1', written]];
    expect(dataOf(translate(log), 'custom')).toEqual([expected]);
    // The Python client gets what the node has written.
    expect(dataOf(translate(log, { dialect: 'python' }), 'custom')).toEqual([written]);
  });
});

// The feed of a thread without a client: its order, what readers at different times get, filters, runs of the REST API, and answers to
// interrupts.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { runLogStorage } from '../../src/storage/deployment/runs/run-log.ts';
import { takesFalse } from '../engines/false-answers.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { command } from './command.ts';
import {
  allChannels,
  type FeedEvent,
  isRunEnd,
  isRunStart,
  nthRunEnd,
  openFeed,
  readFeed,
  seenLater,
} from './feed.ts';
import { heldRun } from '../runs/held-run.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer());

const start = async (thread_id: string, assistant_id: string, input: object, more: object = {}) => {
  const answer = await command(server, thread_id, 'run.start', { assistant_id, input, ...more });
  expect(answer, JSON.stringify(answer)).toMatchObject({ type: 'success' });
  return String(answer.result['run_id']);
};

const newThread = async (): Promise<string> => {
  const { body } = await server.call('POST', '/threads', {});
  return (body as { thread_id: string }).thread_id;
};

const lifecycle = (events: FeedEvent[]): unknown[] =>
  events
    .filter(({ method, params }) => method === 'lifecycle' && params.namespace.length === 0)
    .map(({ params }) => params.data['event']);

const expectInOrder = (events: FeedEvent[]): void => {
  const numbers = events.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
};

const isWaiting = ({ method, params }: FeedEvent): boolean =>
  method === 'custom' && params.data['payload'] === 'waiting';

it('names the task that calls a tool in the events of the tool, because clients find subagents by it', async () => {
  const thread_id = await newThread();
  await start(thread_id, 'toolbox', chatInput('go'));
  const events = await readFeed(server.url, thread_id, isRunEnd);
  const task = events.find(({ params }) => params.data['graph_name'] === 'tools')?.params.namespace;
  expect(task).toEqual([expect.stringMatching(/^tools:/)]);
  const called = events.filter(({ method }) => method === 'tools');
  expect(called.map(({ params }) => [params.data['event'], params.namespace])).toEqual([
    ['tool-started', task],
    ['tool-finished', task],
  ]);
});

it('gives every reader the same events, of all retained runs, in order, and later readers only the end of the last run', async () => {
  const thread_id = await newThread();
  const early = readFeed(server.url, thread_id, nthRunEnd(3));
  await start(thread_id, 'chat', chatInput('one'));
  await start(thread_id, 'chat', chatInput('two'));
  await start(thread_id, 'toolbox', chatInput('three'));
  const events = await early;
  expect(lifecycle(events)).toEqual([
    'running',
    'completed',
    'running',
    'completed',
    'running',
    'interrupted',
  ]);
  expectInOrder(events);
  const later = await readFeed(server.url, thread_id, nthRunEnd(3));
  expect(later).toEqual(seenLater(events));
  expect(lifecycle(later)).toEqual(['running', 'running', 'running', 'interrupted']);
  // A reader that was disconnected within a run gets its end.
  const half = events[Math.floor(events.length / 2)] as FeedEvent;
  const rest = await readFeed(server.url, thread_id, ({ seq }) => seq === events.at(-1)?.seq, {
    since: half.seq,
  });
  const missed = events.filter(({ seq }) => seq > half.seq);
  const itsEnd = missed.findIndex(isRunEnd);
  expect(rest).toEqual([...missed.slice(0, itsEnd + 1), ...seenLater(missed.slice(itsEnd + 1))]);
});

it('gives a reader that comes while a run streams the same events as the first one', async () => {
  const thread_id = randomUUID();
  const run_id = await start(thread_id, 'probe', { do: 'waitForAbort' });
  const first = readFeed(server.url, thread_id, isRunEnd);
  await readFeed(server.url, thread_id, isWaiting);
  const second = readFeed(server.url, thread_id, isRunEnd);
  await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel`);
  const events = await first;
  expect(await second).toEqual(events);
  expect(await readFeed(server.url, thread_id, isRunEnd)).toEqual(events);
  expect(events.at(-1)?.params.data).toMatchObject({ event: 'interrupted', reason: 'cancelled' });
  // A task that is cancelled ends too.
  const [, node] = events.filter(({ method }) => method === 'lifecycle').map(({ params }) => params);
  expect(
    events.findLast(({ params }) => params.namespace.join() === node?.namespace.join())?.params.data,
  ).toMatchObject({
    event: 'interrupted',
  });
});

it('has the checkpoint of each state immediately before it', async () => {
  const thread_id = randomUUID();
  await start(thread_id, 'chat', chatInput('one'));
  await start(thread_id, 'chat', chatInput('two'));
  const feed = await readFeed(server.url, thread_id, nthRunEnd(2), {
    channels: ['values', 'checkpoints', 'lifecycle'],
  });
  const { body } = await server.call('POST', `/threads/${thread_id}/history`, { limit: 100 });
  const stored = body as { checkpoint: { checkpoint_id: string }; values: { messages?: { id: string }[] } }[];
  const states = feed.flatMap((event, at) =>
    event.method === 'values' ? [{ event, before: feed[at - 1] as FeedEvent }] : [],
  );
  expect(states).toHaveLength(4);
  for (const { event, before } of states) {
    expect(before.method).toBe('checkpoints');
    const { messages } = event.params.data as { messages: { id: string }[] };
    const of = stored.find(({ checkpoint }) => checkpoint.checkpoint_id === before.params.data['id']);
    expect(of?.values.messages?.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
  }
});

it('has no event after a checkpoint that is older than its state', async () => {
  const thread_id = randomUUID();
  const run_id = await start(thread_id, 'probe', { do: 'waitForAbort' });
  const events = await readFeed(server.url, thread_id, isWaiting);
  const { body } = await server.call('GET', `/threads/${thread_id}/state`);
  await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel`);
  const { created_at, checkpoint } = body as { created_at: string; checkpoint: { checkpoint_id: string } };
  const at = events.findIndex(({ params }) => params.data['id'] === checkpoint.checkpoint_id);
  const times = events.slice(at).map(({ params }) => params.timestamp);
  expect(new Set(times)).toEqual(new Set([Date.parse(created_at)]));
});

it('has a state before the nodes of the next superstep have ended', async () => {
  const thread_id = randomUUID();
  const run_id = await start(thread_id, 'probe', { do: 'waitForAbort' });
  const events = await readFeed(server.url, thread_id, isWaiting);
  await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel`);
  expect(events.map(({ method }) => method)).toContain('values');
});

it('reports how a failed run has failed', async () => {
  const thread_id = randomUUID();
  await start(thread_id, 'probe', { do: 'throw' });
  const events = await readFeed(server.url, thread_id, isRunEnd);
  expect(events.at(-1)?.params.data).toMatchObject({
    event: 'failed',
    error: 'the graph failed on purpose',
    graph_name: 'probe',
  });
});

it('has only the selected channels, namespaces and depths', async () => {
  const thread_id = randomUUID();
  await start(thread_id, 'toolbox', chatInput('go'));
  const all = await readFeed(server.url, thread_id, isRunEnd);
  const end = all.at(-1) as FeedEvent;
  expect(new Set(all.map(({ method }) => method.split('.', 1)[0]))).toEqual(new Set(allChannels));
  const select = (selection: object) =>
    readFeed(server.url, thread_id, ({ event_id }) => event_id === end.event_id, selection);
  const plain = await select({ channels: ['values', 'lifecycle'], depth: 0 });
  expect(plain).toEqual(
    all.filter(
      ({ method, params }) => ['values', 'lifecycle'].includes(method) && params.namespace.length === 0,
    ),
  );
  const named = await select({ channels: ['custom:progress', 'custom:other', 'lifecycle'], depth: 0 });
  expect(named.filter(({ method }) => method === 'custom').map(({ params }) => params.data)).toEqual([
    { name: 'progress', payload: { done: 1 } },
  ]);
  const inSub = all.filter(({ params }) => params.namespace[0]?.startsWith('sub:'));
  const [sub = ''] = inSub[0]?.params.namespace ?? [];
  const last = inSub.at(-1) as FeedEvent;
  const below = (selection: object) =>
    readFeed(server.url, thread_id, ({ event_id }) => event_id === last.event_id, selection);
  expect(await below({ namespaces: [['sub']] })).toEqual(inSub);
  expect(await below({ namespaces: [[sub]] })).toEqual(inSub);
  expect(await below({ namespaces: [[sub]], depth: 0 })).toEqual(
    inSub.filter(({ params }) => params.namespace.length === 1),
  );
});

it('has the runs that other clients start over the REST API while it is open', async () => {
  const thread_id = await newThread();
  const reading = readFeed(server.url, thread_id, nthRunEnd(2));
  const watched = {
    name: 'watched',
    text: 'select 1 from threads where thread_id = $1 and watched_until > now()',
  };
  await eventually(async () => expect(await server.database.query(watched, [thread_id])).toHaveLength(1));
  const body = { assistant_id: 'chat', input: chatInput('hi') };
  await server.call('POST', `/threads/${thread_id}/runs/wait`, body);
  await server.call('POST', `/threads/${thread_id}/runs/wait`, { ...body, stream_mode: ['updates'] });
  const events = await reading;
  expectInOrder(events);
  expect(lifecycle(events)).toEqual(['running', 'completed', 'running', 'completed']);
  expect(new Set(events.map(({ method }) => method))).toEqual(new Set(['lifecycle', 'values', 'updates']));
});

it('has queued runs in the order in which they execute', async () => {
  const thread_id = randomUUID();
  const first = await start(thread_id, 'probe', { do: 'waitForAbort' });
  await readFeed(server.url, thread_id, isWaiting);
  // The second run ends when the reader has seen its start: while a newer run is in flight, a feed does not begin with the end of an ended one.
  using second = heldRun();
  const hasEnded = nthRunEnd(3);
  let starts = 0;
  const reader = await openFeed(server.url, thread_id, (event) => {
    if (isRunStart(event) && ++starts === 2) second.release();
    return hasEnded(event);
  });
  await start(thread_id, 'probe', second.input);
  await start(thread_id, 'probe', { do: 'sleep', ms: 2 });
  await server.call('POST', `/threads/${thread_id}/runs/${first}/cancel`);
  const events = await reader.events;
  expectInOrder(events);
  expect(lifecycle(events)).toEqual([
    'running',
    'interrupted',
    'running',
    'completed',
    'running',
    'completed',
  ]);
});

it('reports a run that is rolled back while it is read', async () => {
  const thread_id = randomUUID();
  const run_id = await start(thread_id, 'probe', { do: 'waitForAbort' });
  await readFeed(server.url, thread_id, isWaiting);
  const reader = await openFeed(server.url, thread_id, isRunEnd);
  await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?action=rollback`);
  expect((await reader.events).at(-1)?.params.data).toMatchObject({
    event: 'interrupted',
    reason: 'rollback',
  });
});

it('continues after any event, for readers that disconnect while a run streams', async () => {
  const thread_id = randomUUID();
  await start(thread_id, 'probe', { do: 'flood', ms: 300 });
  await start(thread_id, 'toolbox', chatInput('go'));
  const isEnd = nthRunEnd(2);
  const parts: FeedEvent[] = [];
  for (let isOver = false, part = 0; !isOver; part++) {
    const selection = parts.length === 0 ? {} : { since: parts.at(-1)?.seq };
    let left = 1 + ((part * 37) % 60);
    const stop = (event: FeedEvent): boolean => {
      isOver = isEnd(event);
      return isOver || --left === 0;
    };
    parts.push(...(await readFeed(server.url, thread_id, stop, selection)));
  }
  expect(await readFeed(server.url, thread_id, nthRunEnd(2))).toEqual(seenLater(parts));
});

it('may be opened before the thread exists', async () => {
  const thread_id = randomUUID();
  const reading = readFeed(server.url, thread_id, isRunEnd);
  await start(thread_id, 'chat', chatInput('hi'));
  const events = await reading;
  expect(lifecycle(events)).toEqual(['running', 'completed']);
  expect(await readFeed(server.url, thread_id, isRunEnd)).toEqual(events);
});

it('has the same events on every node', async () => {
  await using other = await startTestServer({ database: server.database, executors: 'none' });
  const thread_id = await newThread();
  const readers = [server, other].map(({ url }) => readFeed(url, thread_id, nthRunEnd(2)));
  await start(thread_id, 'chat', chatInput('here'));
  await command(other, thread_id, 'run.start', { assistant_id: 'toolbox', input: chatInput('there') });
  const [here, there] = await Promise.all(readers);
  expect(there).toEqual(here);
  expectInOrder(here ?? []);
});

it('refuses selections that make no sense', async () => {
  const thread_id = await newThread();
  const open = (body: object) => server.call('POST', `/threads/${thread_id}/stream/events`, body);
  const faults = [
    {},
    { channels: [] },
    { channels: ['nothing'] },
    { channels: ['custom:'] },
    { channels: 'values' },
    { channels: Array.from({ length: 101 }, () => 'values') },
    { channels: ['values'], namespaces: 'sub' },
    { channels: ['values'], namespaces: [[1]] },
    { channels: ['values'], namespaces: Array.from({ length: 1_001 }, () => ['a']) },
    { channels: ['values'], namespaces: [Array.from({ length: 33 }, () => 'a')] },
    { channels: ['values'], depth: -1 },
    { channels: ['values'], depth: 0.5 },
    { channels: ['values'], since: -1 },
    { channels: ['values'], since: '1' },
    { channels: ['values'], sinse: 1 },
  ];
  for (const fault of faults) expect(await open(fault), JSON.stringify(fault)).toMatchObject({ status: 422 });
});

describe('a feed of a thread whose stored events were deleted', () => {
  const say = (thread_id: string, text: string): Promise<string> => start(thread_id, 'chat', chatInput(text));

  /** `first_id`: the number of the oldest event that is stored; null when none is. */
  const storedFrom = async (run_id: string): Promise<number | null> => {
    const text = 'select min(first_id) as first_id from run_events where run_id = $1';
    const query = { name: 'stored_from', text };
    const [row] = await server.database.query<{ first_id: number | null }>(query, [run_id]);
    return row?.first_id ?? null;
  };

  /** Deletes the stored events of the run, as the server does after SVC_STREAM_TTL. */
  const expireEvents = (run_id: string): Promise<void> =>
    eventually(async () => {
      const age = {
        name: 'age_events',
        text: `update run_events set created_at = now() - interval '1 day' where run_id = $1`,
      };
      await server.database.query(age, [run_id]);
      await runLogStorage(server.database).prune(80_000_000, 100);
      expect(await storedFrom(run_id)).toBeNull();
    });

  it('that is opened after SVC_STREAM_TTL has the runs that follow', async () => {
    const thread_id = randomUUID();
    const first = await say(thread_id, 'one');
    const before = await readFeed(server.url, thread_id, isRunEnd);
    await expireEvents(first);

    const opened = readFeed(server.url, thread_id, isRunEnd);
    const continued = readFeed(server.url, thread_id, isRunEnd, { since: before[3]?.seq });
    const second = await say(thread_id, 'two');
    const events = await opened;
    expect([events[0]?.event_id, events.at(-1)?.event_id]).toEqual([
      `synth:${second}:begin`,
      `synth:${second}:end`,
    ]);
    expect(events[0]?.params.data).toMatchObject({ event: 'running' });
    expect(events[0]?.seq).toBeGreaterThan(before.at(-1)?.seq ?? Infinity);
    const state = events.findLast(({ method }) => method === 'values')?.params.data['messages'];
    expect(state).toMatchObject(['one', 'echo one', 'two', 'echo two'].map((content) => ({ content })));
    expect(await continued).toEqual(events);
  });
});

// Readers of a thread learn that another client has answered its interrupts.
const falseAnswers: [string, unknown][] = (await takesFalse()) ? [['false', false]] : [];

describe('input.answered', () => {
  const answersIn = (events: FeedEvent[]): unknown[] =>
    events.filter(({ method }) => method === 'input.answered').map(({ params }) => params.data);

  /** A thread that waits at an interrupt. */
  const interrupted = async (assistant_id = 'approval') => {
    const thread_id = randomUUID();
    await command(server, thread_id, 'run.start', { assistant_id, input: { log: [] } });
    const events = await readFeed(server.url, thread_id, isRunEnd);
    const asked = events.find(({ method }) => method === 'input.requested')!;
    return { thread_id, interrupt_id: String(asked.params.data['interrupt_id']), events };
  };

  /** Expects that the thread waits at the interrupt. */
  const expectWaiting = async (thread_id: string, interrupt_id: string) => {
    const { body } = await server.call('GET', `/threads/${thread_id}/state`);
    expect(body).toMatchObject({ tasks: [{ interrupts: [{ id: interrupt_id }] }] });
  };

  const read = (thread_id: string) => readFeed(server.url, thread_id, nthRunEnd(2));
  const open = (thread_id: string, { url } = server) => openFeed(url, thread_id, nthRunEnd(2));

  it('is sent when the run that answers starts, to readers that were there before and to later ones', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    const reader = await open(thread_id);
    await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
    const events = await reader.events;
    const at = events.findIndex(({ method }) => method === 'input.answered');
    expect(events[at]).toMatchObject({ params: { namespace: [], data: { interrupt_ids: [interrupt_id] } } });
    expect(events[at - 1]).toMatchObject({
      method: 'lifecycle',
      seq: events[at]!.seq - 1,
      params: { namespace: [], data: { event: 'running' } },
    });
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(await read(thread_id)).toEqual(seenLater(events));
  });

  it('names the interrupt of a subgraph in the namespace of the root', async () => {
    const { thread_id, interrupt_id } = await interrupted('nested');
    await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
    const events = await read(thread_id);
    expect(answersIn(events)).toEqual([{ interrupt_ids: [interrupt_id] }]);
    expect(events.find(({ method }) => method === 'input.answered')?.params.namespace).toEqual([]);
  });

  it.each([['a value', 'yes'], ...falseAnswers, ['an object', { approved: true }]])(
    'is sent for a run of the REST API that resumes with %s',
    async (_, resume) => {
      const { thread_id, interrupt_id } = await interrupted();
      const reader = await open(thread_id);
      await server.call('POST', `/threads/${thread_id}/runs`, {
        assistant_id: 'approval',
        command: { resume },
      });
      expect(answersIn(await reader.events)).toEqual([{ interrupt_ids: [interrupt_id] }]);
    },
  );

  it('is sent when the input of run.start is the answer', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    await command(server, thread_id, 'run.start', { assistant_id: 'approval', input: 'yes' });
    expect(answersIn(await read(thread_id))).toEqual([{ interrupt_ids: [interrupt_id] }]);
  });

  it('is not sent for runs that resume nothing', async () => {
    const { thread_id, events } = await interrupted();
    expect(answersIn(events)).toEqual([]);
    const body = { assistant_id: 'approval', input: { log: ['again'], resume: 'a value of the input' } };
    const reader = await open(thread_id);
    await server.call('POST', `/threads/${thread_id}/runs`, body);
    expect(answersIn(await reader.events)).toEqual([]);
  });

  it('is sent to readers of the channel `input` only', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
    const channels = ['lifecycle'];
    const events = await readFeed(server.url, thread_id, nthRunEnd(2), { channels });
    expect(answersIn(events)).toEqual([]);
    const inputs = await readFeed(server.url, thread_id, ({ method }) => method === 'input.answered', {
      channels: ['input'],
    });
    expect(inputs.map(({ method }) => method)).toEqual(['input.requested', 'input.answered']);
  });

  it('is not sent to later readers when the run has failed and the thread waits at the interrupt again', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    // The node fails when it makes a text of this answer.
    const answer = { namespace: [], interrupt_id, response: { toString: null } };
    await command(server, thread_id, 'input.respond', answer);
    await read(thread_id);
    await expectWaiting(thread_id, interrupt_id);
    expect(answersIn(await read(thread_id))).toEqual([]);
  });

  it('is not sent to later readers when the run was cancelled after a reader got it', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    const answer = { namespace: [], interrupt_id, response: 'hold' };
    await command(server, thread_id, 'input.respond', answer);
    const events = await readFeed(server.url, thread_id, ({ method }) => method === 'input.answered');
    expect(answersIn(events)).toEqual([{ interrupt_ids: [interrupt_id] }]);
    const { body } = await server.call('GET', `/threads/${thread_id}/runs?status=running`);
    const [{ run_id }] = body as [{ run_id: string }];
    const { status } = await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
    expect(status).toBe(204);
    expect(answersIn(await read(thread_id))).toEqual([]);
    await expectWaiting(thread_id, interrupt_id);
  });

  it('is the same on every node', async () => {
    await using other = await startTestServer({ database: server.database, executors: 'none' });
    const { thread_id, interrupt_id } = await interrupted();
    const reader = await open(thread_id, other);
    await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
    expect(seenLater(await reader.events)).toEqual(await read(thread_id));
  });
});

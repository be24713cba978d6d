// Bad input over the WebSocket of thread protocol v2, and clients that do not read: each has its documented error, and nothing is started.
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { allChannels, isRunEnd, readFeed } from './feed.ts';
import { openSocket, type OpenSocket } from './socket.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer({ executors: 'none' }));
/** Executes the runs of both, and disconnects silent clients soon. A busy client would be silent for as long. */
const impatient = fixture(() =>
  startTestServer({ database: server.database, settings: { heartbeatMs: 100 } }),
);

const countRuns = async (): Promise<number> => {
  const text = 'select count(*)::int as count from runs';
  const [row] = await server.database.query<{ count: number }>({ name: 'count_runs', text }, []);
  return row?.count ?? 0;
};

/** A socket that nothing is started on. */
const untouched = async (use: (socket: OpenSocket) => Promise<void>): Promise<void> => {
  const before = await countRuns();
  const socket = await openSocket(server.url, randomUUID());
  await use(socket);
  socket.ws.close();
  await socket.closed;
  expect(await countRuns()).toBe(before);
};

describe('a message', () => {
  const run = { assistant_id: 'probe', input: {} };
  it.each<[string, string, number | null, string]>([
    ['that is no JSON', '{"id":1,', null, 'invalid_argument'],
    ['that is empty', '', null, 'invalid_argument'],
    ['that is no object', '[1]', null, 'invalid_argument'],
    ['nested too deep', '['.repeat(200) + ']'.repeat(200), null, 'invalid_argument'],
    ['without an id', '{"method":"run.start"}', null, 'invalid_argument'],
    ['with an id that is no number', '{"id":"1","method":"run.start"}', null, 'invalid_argument'],
    ['without a method', '{"id":7}', 7, 'invalid_argument'],
    ['with an unknown key', '{"id":7,"method":"run.start","parms":{}}', 7, 'invalid_argument'],
    ['with a repeated key', '{"id":7,"id":8,"method":"state.get"}', null, 'invalid_argument'],
    [
      'with parameters that are no object',
      '{"id":7,"method":"run.start","params":[]}',
      7,
      'invalid_argument',
    ],
    ['with an unknown method', '{"id":7,"method":"run.stop"}', 7, 'unknown_command'],
    ['with an unsupported method', '{"id":7,"method":"subscription.reconnect"}', 7, 'not_supported'],
  ])('%s is answered with an error', async (_, text, id, error) => {
    await untouched(async (socket) => {
      socket.ws.send(text);
      expect(await socket.next()).toMatchObject({ type: 'error', id, error });
      expect((await socket.command('state.get')).error).toBe('invalid_argument');
    });
  });

  it.each<[string, object]>([
    ['an unknown channel', { channels: ['everything'] }],
    ['no channel', { channels: [] }],
    ['no selection', {}],
    ['a namespace that is no path', { channels: ['values'], namespaces: ['a'] }],
    ['an empty segment', { channels: ['values'], namespaces: [['']] }],
    ['a negative number', { channels: ['values'], since: -1 }],
    ['an unknown key', { channels: ['values'], namespace: [] }],
  ])('that subscribes to %s is answered with an error', async (_, params) => {
    await untouched(async (socket) => {
      expect(await socket.command('subscription.subscribe', params)).toMatchObject({
        type: 'error',
        error: 'invalid_argument',
      });
    });
  });

  it('about a namespace or an interrupt that does not exist is answered with an error', async () => {
    const socket = await openSocket(server.url, randomUUID());
    await socket.command('run.start', { assistant_id: 'approval', input: {} });
    await socket.command('subscription.subscribe', { channels: ['lifecycle', 'input'] });
    const events = await socket.until(isRunEnd);
    const interrupt_id = events.find(({ method }) => method === 'input.requested')?.params.data[
      'interrupt_id'
    ];
    expect(await socket.command('state.get', { namespace: ['nowhere'] })).toMatchObject({
      error: 'no_such_namespace',
    });
    const before = await countRuns();
    const other = await openSocket(server.url, randomUUID());
    expect(await other.command('input.respond', { interrupt_id, response: 1 })).toMatchObject({
      error: 'invalid_argument',
    });
    const foreign = { interrupt_id: 'f'.repeat(32), response: 1 };
    expect(await socket.command('input.respond', foreign)).toMatchObject({ error: 'no_such_interrupt' });
    expect(await countRuns()).toBe(before);
    expect(await socket.command('input.respond', { interrupt_id, response: 1 })).toMatchObject({
      type: 'success',
    });
    await eventually(() => expect(socket.events.filter(isRunEnd)).toHaveLength(2));
    expect(await socket.command('input.respond', { interrupt_id, response: 2 })).toMatchObject({
      error: 'no_such_interrupt',
    });
    expect(await countRuns()).toBe(before + 1);
    for (const { ws } of [socket, other]) ws.close();
  });

  it('that is binary ends the socket with 1003', async () => {
    await untouched(async (socket) => {
      socket.ws.send(Buffer.from(JSON.stringify({ id: 1, method: 'run.start', params: run })));
      expect(await socket.closed).toMatchObject({ code: 1003 });
    });
  });

  it('that is not UTF-8 ends the socket with 1007', async () => {
    await untouched(async (socket) => {
      const text = Buffer.from(JSON.stringify({ id: 1, method: 'run.start', params: run }));
      text[text.indexOf('probe')] = 0xff;
      socket.ws.send(text, { binary: false });
      expect(await socket.closed).toMatchObject({ code: 1007 });
    });
  });

  it('in fragments is read as one', async () => {
    const socket = await openSocket(server.url, randomUUID());
    const text = JSON.stringify({ id: 3, method: 'run.start', params: run });
    for (let at = 0; at < text.length; at++)
      socket.ws.send(text.slice(at, at + 1), { fin: at === text.length - 1 });
    expect(await socket.next()).toMatchObject({ type: 'success', id: 3 });
    socket.ws.close();
  });

  it('in too many fragments ends the socket with 1008', async () => {
    await untouched(async (socket) => {
      for (let at = 0; at < 2_000; at++) socket.ws.send(' ', { fin: false });
      expect(await socket.closed).toMatchObject({ code: 1008 });
    });
  });

  it('of 20 MB ends the socket with 1009, before it is read', async () => {
    await untouched(async (socket) => {
      const input = { note: 'x'.repeat(20_000_000) };
      socket.ws.send(JSON.stringify({ id: 1, method: 'run.start', params: { ...run, input } }));
      expect(await socket.closed).toMatchObject({ code: 1009 });
    });
  });

  it('of 3 MB is executed', async () => {
    const socket = await openSocket(server.url, randomUUID());
    const input = { out: 'x'.repeat(3_000_000) };
    expect(await socket.command('run.start', { ...run, input })).toMatchObject({ type: 'success' });
    expect(await socket.command('state.get')).toMatchObject({ type: 'success' });
    socket.ws.close();
  });
});

describe('a feed', () => {
  /** Reads of the stored events fail with the SQLSTATE. */
  const breakReads = async ({ database }: TestServer, state: string): Promise<void> => {
    for (const text of [
      `create function fail_read() returns boolean language plpgsql volatile as
        $$ begin raise 'failed on purpose' using errcode = '${state}'; end $$`,
      'alter table run_events rename to kept_run_events',
      'create view run_events as select * from kept_run_events where fail_read()',
    ])
      await database.script(text);
  };
  afterEach(() =>
    server.database.script(`
      drop view run_events;
      alter table kept_run_events rename to run_events;
      drop function fail_read();`),
  );

  it.each([
    ['4500', 'P0001', 4_500, 'Internal server error; see the log of the server.'],
    ['4503', '53100', 4_503, 'The disk of the database is full'],
  ])('that fails ends the socket with %s', async (_, state, code, reason) => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('run.start', { assistant_id: 'probe', input: { do: 'pid' } });
    await readFeed(server.url, thread_id, isRunEnd);
    await breakReads(server, state);
    socket.ws.send(
      JSON.stringify({ id: 2, method: 'subscription.subscribe', params: { channels: ['values'] } }),
    );
    expect(await socket.closed).toEqual({ code, reason });
  });
});

describe('a client', () => {
  it('that sends 3,000 subscriptions gets the first hundred, and errors', async () => {
    const socket = await openSocket(server.url, randomUUID());
    const answers: { id: number; type: string; error?: string; result?: { subscription_id: string } }[] = [];
    const params = { channels: ['lifecycle'] };
    const ids = Array.from({ length: 3_000 }, (_, id) => id);
    const unanswered = new Set(ids);
    socket.ws.on('message', (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as (typeof answers)[0];
      answers.push(answer);
      unanswered.delete(answer.id);
    });
    for (const id of ids) socket.ws.send(JSON.stringify({ id, method: 'subscription.subscribe', params }));
    const closed = socket.closed.then((close) => Promise.reject(new Error(JSON.stringify(close))));
    // Cheap, because the client and the server share this event loop: to compare long lists takes longer than the server needs.
    const allAnswered = eventually(() =>
      expect(unanswered.size, `unanswered: ${[...unanswered].slice(0, 20).join()}…`).toBe(0),
    );
    // The first of them decides; `closed` also rejects when the test itself closes the socket.
    for (const promise of [closed, allAnswered]) promise.catch(() => undefined);
    await Promise.race([closed, allAnswered]);
    expect(answers).toHaveLength(3_000);
    expect(answers.filter(({ type }) => type === 'success')).toHaveLength(100);
    const refused = answers.filter(({ type }) => type === 'error');
    expect(new Set(refused.map(({ error }) => error))).toEqual(new Set(['invalid_argument']));
    const { subscription_id } = answers.find(({ type }) => type === 'success')?.result ?? {};
    await socket.command('subscription.unsubscribe', { subscription_id }, 3_001);
    expect(await socket.command('subscription.subscribe', params, 3_002)).toMatchObject({ type: 'success' });
    socket.ws.close();
  });

  it('that reads nothing is disconnected with a reason, and gets the rest when it comes back', async () => {
    const thread_id = randomUUID();
    const slow = await openSocket(impatient.url, thread_id);
    await slow.command('subscription.subscribe', { channels: allChannels });
    slow.ws.pause();
    const flood = {
      id: 1,
      method: 'run.start',
      params: { assistant_id: 'probe', input: { do: 'flood', ms: 7_000 } },
    };
    slow.ws.send(JSON.stringify(flood));
    const all = await readFeed(server.url, thread_id, isRunEnd);
    // A client that begins to be silent later than the slow one is disconnected later.
    await (
      await openSocket(impatient.url, thread_id, { autoPong: false })
    ).closed;
    slow.ws.resume();
    expect(await slow.closed).toEqual({ code: 1013, reason: 'The client reads too slowly.' });
    const last = slow.events.at(-1)?.seq;
    const again = await openSocket(server.url, thread_id);
    await again.command('subscription.subscribe', {
      channels: allChannels,
      ...(last === undefined ? {} : { since: last }),
    });
    const rest = await again.until(isRunEnd);
    expect([...slow.events, ...rest]).toEqual(all);
    again.ws.close();
  });

  it('that does not answer pings is disconnected', async () => {
    const silent = await openSocket(impatient.url, randomUUID(), { autoPong: false });
    expect(await silent.closed).toMatchObject({ code: 1013 });
  });
});

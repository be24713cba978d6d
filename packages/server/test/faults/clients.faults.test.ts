// Clients that do not read, disconnect, reconnect all at once, or send requests slowly or twice.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { sendOnce, readStream } from './caller.ts';
import { Cluster } from './cluster.ts';
import { inspected, memoryAtRest } from './garbage.ts';
import type { Frame } from './history.ts';
import { resourcesOf, leaks } from './invariants/conduct.ts';
import { getRun, join, journalRequest, pathOf, startJournal, startRun } from './journal-run.ts';
import { startPostgres } from './postgres.ts';
import { rounds, runScenario } from './scenario.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const postgres = fixture(() => startPostgres());
const cluster = fixture(() => Cluster.open(postgres, { a: {}, b: {} }));

const megabyte = 1024 ** 2;
const resumable = { stream_resumable: true, stream_mode: ['custom', 'updates'] };

/** A connection that has requested a stream, and reads only on demand. */
const openSocket = async (url: string, path: string, headers = ''): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined); // the server may close it
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${headers}\r\n`);
  return socket;
};

/**
 * All events after this one. The reader comes back as stock clients do: after a 503 of a node that cannot serve it at once, and after a
 * connection that breaks with an event `reconnect`.
 */
const readLog = async (url: string, path: string, after = '-1'): Promise<Frame[]> => {
  const read: Frame[] = [];
  for (;;) {
    const request = {
      method: 'GET',
      path,
      headers: { 'last-event-id': read.at(-1)?.id ?? after },
    } as const;
    const { status, end, frames } = await readStream(url, request, { signal: AbortSignal.timeout(60_000) });
    const isInterrupted = frames.at(-1)?.event === 'reconnect';
    read.push(...(isInterrupted ? frames.slice(0, -1) : frames));
    if (status === 503 || (isInterrupted && end === 'broken')) {
      await sleep(1_000);
      continue;
    }
    expect({ status, end }).toEqual({ status: 200, end: 'clean' });
    return read;
  }
};

describe('clients that', () => {
  it('never read use little memory and do not slow down others', async () => {
    const inspector = await inspected();
    await runScenario({
      postgres,
      nodes: { a: { env: inspector.env } },
      async faults(stage) {
        const { pid, url } = stage.cluster.node('a');
        await join(stage, await startRun(stage, 'flooder', { events: 10, bytes: 10 }));
        const before = await memoryAtRest(pid, inspector);
        const run = await startRun(
          stage,
          'flooder',
          { events: 2_000, bytes: 10_000, ms: 2_000 },
          { more: { stream_mode: 'custom', stream_resumable: true } },
        );
        const readers = 50;
        const sockets = await Promise.all(
          Array.from({ length: readers }, () => openSocket(url, `${pathOf(run)}/stream`)),
        );
        for (const socket of sockets) socket.pause();
        expect((await join(stage, run)).body).toMatchObject({ out: 'flooded' });
        expect((await memoryAtRest(pid, inspector)) - before).toBeLessThan(
          readers * megabyte + 150 * megabyte,
        );
        for (const socket of sockets) socket.destroy();
        const log = await readLog(url, `${pathOf(run)}/stream`);
        expect(log.filter(({ event }) => event === 'custom').length).toBeGreaterThan(0);
      },
    });
  });

  it(
    'only wait, thousands of them, use little memory and no connection to the database',
    async () => {
      const clients = rounds > 1 ? 5_000 : 2_000;
      const inspector = await inspected();
      await runScenario({
        postgres,
        nodes: { a: { env: inspector.env } },
        async faults(stage) {
          const { cluster } = stage;
          const { pid, url } = cluster.node('a');
          const run = await startRun(stage, 'sleeper', { ms: 600_000 }, { more: resumable });
          const first = await openSocket(url, `${pathOf(run)}/stream`);
          await once(first, 'data');
          const before = await memoryAtRest(pid, inspector);
          const sockets: Socket[] = [first];
          while (sockets.length < clients) {
            const more = Array.from({ length: 100 }, () => openSocket(url, `${pathOf(run)}/stream`));
            sockets.push(...(await Promise.all(more)));
          }
          // Every client has its response head, and its connection is alive.
          await Promise.all(sockets.map((socket) => once(socket, 'data')));
          expect((await memoryAtRest(pid, inspector)) - before).toBeLessThan(
            (150 * megabyte * clients) / 5_000 + 30 * megabyte,
          );
          const [sessions] = await cluster.query<{ count: number }>(
            `select count(*)::integer as count from pg_stat_activity where application_name = 'a'`,
          );
          expect(sessions?.count).toBeLessThanOrEqual(24);
          for (const socket of sockets) socket.destroy();
          await stage.caller.call({ method: 'POST', path: `${pathOf(run)}/cancel?wait=1` });
        },
      });
    },
    scaled(180_000),
  );

  it('disconnect cancel a run only when they created it with on_disconnect cancel', async () => {
    await runScenario({
      postgres,
      nodes: { a: { role: 'api' }, b: { role: 'worker' } },
      async faults(stage) {
        const { url } = stage.cluster.node('a');
        const disconnect = async (on_disconnect: string): Promise<{ thread_id: string; run_id: string }> => {
          const request = journalRequest(
            { steps: 30, ms: 100, more: { ...resumable, on_disconnect } },
            '/stream',
          );
          let run_id = '';
          await readStream(url, request, {
            disconnectAfter: 2,
            onOpen: ({ headers }) => (run_id = headers.get('content-location')?.split('/')[4] ?? ''),
          });
          return { thread_id: request.thread_id, run_id };
        };
        const cancelled = await disconnect('cancel');
        await eventually(async () => expect((await getRun(stage, cancelled)).status).toBe('interrupted'));
        const kept = await disconnect('continue');
        expect((await join(stage, kept)).body).toMatchObject({ taken: 30 });

        const joined = await startJournal(stage, {
          steps: 30,
          ms: 100,
          more: { ...resumable, on_disconnect: 'cancel' },
        });
        await readStream(url, { method: 'GET', path: `${pathOf(joined)}/stream` }, { disconnectAfter: 1 });
        expect((await join(stage, joined)).body).toMatchObject({ taken: 30 });
      },
    });
  });

  it(
    'reconnect all at once after a restart get exactly the events after their last one',
    async () => {
      const clients = rounds > 1 ? 2_000 : 300;
      await runScenario({
        postgres,
        nodes: { api: { role: 'api' }, worker: { role: 'worker' } },
        async faults(stage) {
          const { cluster, note, random } = stage;
          const run = await startJournal(stage, { steps: 20, ms: 150, more: resumable });
          // Clients name events up to the tenth.
          const first = { method: 'GET', path: `${pathOf(run)}/stream` } as const;
          await readStream(cluster.node('api').url, first, { disconnectAfter: 11 });
          note('restart api');
          await cluster.node('api').kill();
          await cluster.add('api');
          const { url } = cluster.node('api');
          const path = `${pathOf(run)}/stream`;
          const readers = Array.from({ length: clients }, async () => {
            const after = random.between(-1, 10);
            return { after, frames: await readLog(url, path, String(after)) };
          });
          const log = await readLog(url, path);
          expect(log.length).toBeGreaterThan(40);
          for (const { after, frames } of await Promise.all(readers))
            expect(frames).toEqual(log.slice(after + 1));
        },
      });
    },
    scaled(180_000),
  );

  it('send an invalid last-event-id get a defined response at once', async () => {
    await runScenario({
      cluster,
      async faults(stage) {
        const { url } = stage.cluster.node('a');
        const run = await startJournal(stage, { steps: 3, ms: 10, more: resumable });
        await join(stage, run);
        const path = `${pathOf(run)}/stream`;
        const log = await readLog(url, path);
        expect(await readLog(url, path, String(log.length - 1))).toEqual([]);
        for (const after of ['999999', 'garbage', '1e9', '-7', '99999999999999999999', '0x10']) {
          const segment = await readStream(
            url,
            { method: 'GET', path, headers: { 'last-event-id': after } },
            { signal: AbortSignal.timeout(5_000) },
          );
          expect([200, 422], after).toContain(segment.status);
          if (segment.status === 200) expect(segment.end, after).toBe('clean');
        }
      },
    });
  });

  it('read the same run at two nodes both get all events', async () => {
    await runScenario({
      cluster,
      async faults(stage) {
        const [a, b] = ['a', 'b'].map((name) => stage.cluster.node(name).url) as [string, string];
        for (let round = 0; round < 3; round++) {
          const run = await startJournal(stage, { steps: 8, ms: 50, more: resumable });
          const logs = await Promise.all([a, b, a, b].map((url) => readLog(url, `${pathOf(run)}/stream`)));
          expect(logs[0]?.length).toBeGreaterThan(16);
          for (const log of logs) expect(log).toEqual(logs[0]);
        }
      },
    });
  });

  it('get events of the same millisecond with ids of their own, in order', async () => {
    await runScenario({
      cluster,
      async faults(stage) {
        const run = await startRun(
          stage,
          'flooder',
          { events: 3_000, bytes: 20 },
          { more: { stream_mode: 'custom', stream_resumable: true } },
        );
        for (const name of ['a', 'b']) {
          const log = await readLog(stage.cluster.node(name).url, `${pathOf(run)}/stream`);
          expect(log.map(({ id }) => Number(id))).toEqual(log.map((_, index) => index));
          const customEvents = log.filter(({ event }) => event === 'custom');
          expect(customEvents.map(({ data }) => (JSON.parse(data) as { index: number }).index)).toEqual(
            Array.from({ length: 3_000 }, (_, index) => index),
          );
        }
      },
    });
  });

  it(
    'send requests slowly do not delay others, and get 408',
    async () => {
      await runScenario({
        postgres,
        nodes: { a: {} },
        async faults(stage) {
          const { url, pid } = stage.cluster.node('a');
          await sendOnce(url, { method: 'GET', path: '/ok' });
          const before = resourcesOf(pid);
          const sockets = await Promise.all(Array.from({ length: 200 }, () => openSlow(url)));
          const answers = sockets.map(async (socket) => String((await once(socket, 'data'))[0]));
          const run = await startJournal(stage, { steps: 2, ms: 10 });
          expect((await join(stage, run)).body).toMatchObject({ taken: 2 });
          for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
          for (const socket of sockets) socket.destroy();
          await eventually(() => expect(leaks('a', before, resourcesOf(pid))).toEqual([]));
        },
      });
    },
    scaled(180_000),
  );

  it('create the same run twice at two nodes get one run; a different body with the same key gets 409', async () => {
    await runScenario({
      cluster,
      async faults(stage) {
        const [a, b] = ['a', 'b'].map((name) => stage.cluster.node(name).url) as [string, string];
        for (let round = 0; round < 5; round++) {
          const request = journalRequest({ steps: 2, ms: 20 });
          const answers = await Promise.all(
            Array.from({ length: 10 }, (_, index) => sendOnce(index % 2 === 0 ? a : b, request)),
          );
          const ids = new Set(answers.map(({ body }) => (body as { run_id: string }).run_id));
          expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
          expect(ids.size).toBe(1);
          const other = { ...request, body: { ...(request.body as object), metadata: { other: true } } };
          expect((await sendOnce(b, other)).status).toBe(409);
          const { 'idempotency-key': _, ...headers } = request.headers ?? {};
          const unnamed = { ...request, headers, body: { ...(request.body as object), metadata: {} } };
          const two = await Promise.all([sendOnce(a, unnamed), sendOnce(b, unnamed)]);
          expect(new Set([...ids, ...two.map(({ body }) => (body as { run_id: string }).run_id)]).size).toBe(
            3,
          );
        }
      },
      // Runs without a key have no markers of their own.
      except: ['markersAppearOnceInOrder'],
    });
  });
});

/** Sends an incomplete request head, and then one byte per second. */
const openSlow = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`POST /threads HTTP/1.1\r\nhost: ${hostname}\r\nx-slow-${randomUUID()}: `);
  const timer = setInterval(() => socket.write('x'), 1_000);
  socket.once('close', () => clearInterval(timer));
  return socket;
};

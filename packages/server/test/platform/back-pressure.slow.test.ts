// More traces than the server can store: the stock client gets 429, retries, and no trace is lost.
import { randomUUID } from 'node:crypto';
import { Client, RunTree } from 'langsmith';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startPlatform } from './platform-server.ts';
import { scaled } from '../speed.ts';

/** More requests than the server processes and queues at once. */
const requestCount = 520;

it(
  'a tracer that gets 429 retries, and its runs are stored',
  async () => {
    await using platform = await startPlatform();
    const { server, apiUrl, key } = platform;
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    let isLocked = false;
    const lock = server.database.transact(async (tx) => {
      await tx.query({ text: 'lock table trace_runs in access exclusive mode' }, []);
      isLocked = true;
      await released;
    });
    // Released before the server stops, which waits for its database, whatever the result of the test.
    await using _ = { [Symbol.asyncDispose]: () => (release(), lock) };
    await eventually(() => expect(isLocked).toBe(true));
    const statuses: number[] = [];
    const send = async (): Promise<void> => {
      const { status } = await platform.call('POST', '/runs', { json: { id: randomUUID(), name: 'load' } });
      statuses.push(status);
    };
    const sending = Array.from({ length: requestCount }, send);
    await eventually(() => {
      // On a slow machine the requests may arrive one after the other.
      if (!statuses.includes(429)) sending.push(send());
      expect(statuses).toContain(429);
    });
    expect(statuses).not.toContain(202);

    const client = new Client({ apiUrl, apiKey: key });
    const run = new RunTree({ name: 'patient', inputs: { a: 1 }, client });
    await run.end({ b: 2 });
    await run.postRun();
    const refused = /route="\/api\/v1\/runs\/multipart",status="429"} [1-9]/;
    const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
    await eventually(async () => expect(await metrics()).toMatch(refused));
    expect(await metrics()).toMatch(/^svc_ingest_refused_total [1-9]/m);
    release();
    await lock;
    await Promise.all(sending);
    // 503: the request waited for the lock until its time limit.
    for (const status of statuses) expect([202, 429, 503]).toContain(status);
    await client.awaitPendingTraceBatches();
    expect((await platform.call('GET', `/runs/${run.id}`)).body).toMatchObject({
      name: 'patient',
      inputs: { a: 1 },
      outputs: { b: 2 },
    });
  },
  scaled(120_000),
);

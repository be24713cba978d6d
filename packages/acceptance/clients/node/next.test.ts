// The server in a real Next application, examples/embed-next, with its embedded PostgreSQL.
import { readdirSync, readFileSync } from 'node:fs';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../server/test/eventually.ts';
import { buildApplication, sessionOf, type Application, type Started } from '../../next/application.ts';

let application: Application;
let next: Started;
beforeAll(async () => {
  application = await buildApplication();
  next = await application.start();
});
afterAll(async () => {
  await next?.[Symbol.asyncDispose]();
  await application?.[Symbol.asyncDispose]();
});

const clientOf = (user?: string): Client =>
  new Client({
    apiUrl: `${next.url}/api/agents`,
    defaultHeaders: user === undefined ? {} : sessionOf(user),
    callerOptions: { maxRetries: 0 },
  });

/** Command lines of processes that use the data of the application, or belong to it. */
const processes = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandOf)
    .filter((command) => command.includes(next.dataDir.replace(/data$/, '')));

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it has ended meanwhile
  }
};

const longRun = { input: { steps: 2_000 }, config: { recursion_limit: 5_000 } };

describe('a Next application with createSvcHandler()', () => {
  it('streams a run to a stock client, whose thread belongs to the user of the session', async () => {
    const client = clientOf('ann');
    const { thread_id, metadata } = await client.threads.create();
    expect(metadata).toMatchObject({ svc_auth_user_id: 'ann' });
    const steps: unknown[] = [];
    const run = { input: { steps: 3 }, streamMode: 'values' as const };
    for await (const { event, data } of client.runs.stream(thread_id, 'slow', run))
      if (event === 'values') steps.push((data as { done: number }).done);
    expect(steps).toEqual([0, 1, 2, 3]);
    expect((await client.threads.getState(thread_id)).values).toEqual({ steps: 3, done: 3 });
  });

  it('refuses requests without a session, or with a forged one', async () => {
    await expect(clientOf().threads.create()).rejects.toMatchObject({ status: 401 });
    const response = await fetch(`${next.url}/api/agents/threads`, {
      method: 'POST',
      headers: { cookie: `session=ann.${'0'.repeat(64)}` },
    });
    expect(response.status).toBe(401);
  });

  it('cancels the run of a stream that its client stops', async () => {
    const client = clientOf('ann');
    const { thread_id } = await client.threads.create();
    const stopped = new AbortController();
    const run = { ...longRun, streamMode: 'values' as const, onDisconnect: 'cancel' as const };
    const read = async (): Promise<void> => {
      for await (const { event } of client.runs.stream(thread_id, 'slow', { ...run, signal: stopped.signal }))
        if (event === 'values') stopped.abort();
    };
    await read().catch((error: unknown) => {
      if (!stopped.signal.aborted) throw error;
    });
    await eventually(async () =>
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'interrupted' }]),
    );
  });

  it('leaves no process when it is ended by SIGTERM during a stream, and continues the run at its next start', async () => {
    const { thread_id } = await clientOf('ann').threads.create();
    const run = { ...longRun, input: { steps: 40 }, streamMode: 'values' as const };
    const stream = clientOf('ann').runs.stream(thread_id, 'slow', { ...run, onDisconnect: 'continue' });
    const first = await stream.next();
    expect(first.value).toMatchObject({ event: 'metadata' });
    expect(processes().join('\n')).toContain('postgres');
    const code = await next.terminate();
    await eventually(() => expect(processes()).toEqual([]));
    expect(code).toBe(0);
    await stream.return?.(undefined).catch(() => undefined); // the connection is closed
    next = await application.start();
    await clientOf('ann').runs.join(thread_id, (first.value.data as { run_id: string }).run_id);
    expect((await clientOf('ann').threads.getState(thread_id)).values).toEqual({ steps: 40, done: 40 });
  });
});

// The SDK for exports: every method, and waiting for the end of an export.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BulkExport, destinationRoutes, exportRoutes, type Routes } from '@svc/contract';
import { createPlatformClient, ExportError, type PlatformClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDestination, newProject, sample, sql } from './export-fixtures.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
let client: PlatformClient;
type NewExport = Parameters<PlatformClient['exports']['create']>[0];
let body: NewExport;
/** A schedule that is not due. */
let scheduled: NewExport;
const called = new Set<string>();
beforeAll(async () => {
  platform = await startPlatform({ exportSlots: '0' });
  client = createPlatformClient({
    apiUrl: platform.server.url,
    apiKey: platform.key,
    fetch: (input, init) => {
      called.add(`${init?.method} ${new URL(input as string).pathname.replaceAll(/[0-9a-f-]{36}/g, '*')}`);
      return fetch(input, init);
    },
  });
  body = sample(await newDestination(platform), await newProject(platform)) as NewExport;
  const { end_time: _, ...endless } = body;
  scheduled = { ...endless, start_time: '2126-03-01T00:00:00Z', interval_hours: 1 };
});
afterAll(() => platform[Symbol.asyncDispose]());

const setStatus = (id: string, status: string, error: string | null = null): Promise<unknown> =>
  sql(platform, `update exports set status = $2, error = $3, manifest = '{"version": 1}' where id = $1`, [
    id,
    status,
    error,
  ]);

describe('the client for exports', () => {
  it('has a method for every route', async () => {
    expect((await client.exports.validate(body)).partitions).toHaveLength(3);
    const made = await client.exports.create(body);
    expect(await client.exports.get(made.id)).toEqual(made);
    expect(await client.exports.list({ status: ['Created', 'RUNNING'], limit: 5 })).toEqual([made]);
    const [run] = await client.exports.runs(made.id, { status: 'created' });
    expect(await client.exports.run(made.id, run?.id ?? '')).toEqual(run);
    expect(await client.exports.events(made.id, { limit: 1 })).toMatchObject([{ type: 'created' }]);
    await expect(client.exports.manifest(made.id)).rejects.toMatchObject({ status: 409 });
    const schedule = await client.exports.create(scheduled);
    expect(await client.exports.scheduleRuns(schedule.id)).toEqual([]);
    expect((await client.exports.cancel(schedule.id)).status).toBe('CANCELLED');
    expect([...called].toSorted()).toEqual(callsOf(exportRoutes));
  });

  it('has a method for every route of destinations', async () => {
    called.clear();
    const folder = { destination_type: 'file', display_name: 'a folder', config: { path: 'sdk' } } as const;
    const made = await client.destinations.create(folder);
    expect(await client.destinations.get(made.id)).toEqual(made);
    expect((await client.destinations.list()).map(({ id }) => id)).toContain(made.id);
    expect(await client.destinations.test(made.id)).toMatchObject({ ok: true });
    const credentials = { access_key_id: 'a', secret_access_key: 's' };
    await expect(client.destinations.rotate(made.id, { credentials })).rejects.toMatchObject({ status: 422 });
    expect(await client.destinations.delete(made.id)).toMatchObject({ id: made.id });
    expect([...called].toSorted()).toEqual(callsOf(destinationRoutes));
  });
});

const callsOf = (routes: Routes): string[] =>
  Object.values(routes)
    .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:\w+/g, '*')}`)
    .toSorted();

describe('waiting for an export', () => {
  it('resolves when the export is completed, and reports every poll', async () => {
    const { id } = await client.exports.create(body);
    const seen: string[] = [];
    const done = client.exports.waitFor(id, {
      pollMs: 10,
      onProgress: ({ status }) => {
        if (seen.length === 0) void setStatus(id, 'RUNNING');
        else if (status === 'RUNNING' && seen.at(-1) !== 'RUNNING') void setStatus(id, 'COMPLETED');
        seen.push(status);
      },
    });
    expect(await done).toMatchObject({ id, status: 'COMPLETED', progress: { percent: 100 } });
    expect([...new Set(seen)]).toEqual(['CREATED', 'RUNNING', 'COMPLETED']);
  });

  it.each(['FAILED', 'CANCELLED', 'TIMEDOUT'])('rejects with it when it is %s', async (status) => {
    const { id } = await client.exports.create(body);
    await setStatus(id, status, 'the bucket is gone');
    const error = await client.exports.waitFor(id).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExportError);
    expect(error).toMatchObject({
      export: { id, status },
      message: expect.stringContaining('bucket') as string,
    });
  });

  it('rejects for a schedule and for an unknown export', async () => {
    const { id } = await client.exports.create(scheduled);
    await expect(client.exports.waitFor(id)).rejects.toBeInstanceOf(ExportError);
    await expect(client.exports.waitFor(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
  });

  it('ends when it is aborted or times out, and does not change the export', async () => {
    const { id } = await client.exports.create(body);
    const abort = new AbortController();
    const aborted = client.exports.waitFor(id, { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    await expect(client.exports.waitFor(id, { timeoutMs: 1 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect((await client.exports.get(id)).status).toBe('CREATED');
  });

  it('continues through errors and disconnects of the server', async () => {
    const { id } = await client.exports.create(body);
    await setStatus(id, 'COMPLETED');
    const answers = [500, 503, 'gone', 502, 'gone'];
    await using proxy = await flaky(answers);
    const away = createPlatformClient({ apiUrl: proxy.url, apiKey: platform.key });
    expect(await away.exports.waitFor(id, { pollMs: 5 })).toMatchObject({ id, status: 'COMPLETED' });
    expect(answers).toEqual([]);
  });

  it('stops when the server is unavailable for longer than its limit', async () => {
    await using proxy = await flaky(Array(1_000).fill(500));
    const away = createPlatformClient({ apiUrl: proxy.url, apiKey: platform.key });
    await expect(
      away.exports.waitFor(crypto.randomUUID(), { pollMs: 1, patienceMs: 20 }),
    ).rejects.toMatchObject({
      status: 500,
    });
  });
});

/** A proxy that first gives the listed answers (a status, or a broken connection), then forwards requests. */
const flaky = async (answers: (number | string)[]) => {
  const server = createServer((request, response) => {
    const answer = answers.shift();
    if (typeof answer === 'number') response.writeHead(answer).end();
    else if (answer !== undefined) request.socket.destroy();
    else
      void fetch(platform.server.url + request.url, { headers: { 'x-api-key': platform.key } }).then(
        async (passed) =>
          response.writeHead(passed.status).end(JSON.stringify((await passed.json()) as BulkExport)),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

// kill -9 of every process during ingest: data that was acknowledged with 202 is stored exactly once. SVC_KILL_ROUNDS sets the number of
// rounds.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Client, RunTree } from 'langsmith';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { testProject } from '../server.ts';

const rounds = Number(process.env['SVC_KILL_ROUNDS'] ?? 3);

let dataDir: string;
let last: SvcProcess | undefined;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-ingest-'));
});
afterAll(async () => {
  await last?.killAll();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

interface Sent {
  id: string;
  inputs: { text: string };
  acknowledged: boolean;
}

const post = (url: string, key: string, path: string, body: unknown): Promise<Response> =>
  fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Sends batches, four at a time, until the server is killed. Batches without a response are sent again, as tracers do. */
const sendUntilDeath = async (
  url: string,
  key: string,
  pending: Sent[],
  onTaken: () => void,
): Promise<Sent[]> => {
  const all: Sent[] = [];
  const sender = async (): Promise<void> => {
    for (;;) {
      const again = pending.splice(0, 10);
      const fresh = Array.from({ length: 10 }, () => ({
        id: randomUUID(),
        inputs: { text: randomBytes(1_000).toString('hex') },
        acknowledged: false,
      }));
      const runs = [...again, ...fresh];
      all.push(...runs);
      const batch = runs.map(({ id, inputs }) => ({
        id,
        inputs,
        name: 'x',
        start_time: '2026-11-20T00:00:00Z',
      }));
      const answer = await post(url, key, '/runs/batch', { post: batch }).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status !== 202) continue;
      for (const run of runs) run.acknowledged = true;
      onTaken();
    }
  };
  await Promise.all([sender(), sender(), sender(), sender()]);
  return all;
};

/** Kills when one batch was accepted and others are in flight, however slow the machine. */
const killAfter = async (isTaken: () => boolean, spreadMs: number): Promise<void> => {
  await vi.waitUntil(isTaken, { timeout: 60_000, interval: 5 });
  await sleep(Math.random() * spreadMs);
  await last?.killAll();
};

const check = async (url: string, key: string, sent: Sent[]): Promise<void> => {
  for (let at = 0; at < sent.length; at += 500) {
    const part = sent.slice(at, at + 500);
    const response = await post(url, key, '/runs/query', { id: part.map(({ id }) => id) });
    const { runs } = (await response.json()) as { runs: Sent[] };
    const found = new Map(runs.map((run) => [run.id, run]));
    expect(runs).toHaveLength(found.size);
    for (const { id, inputs, acknowledged } of part)
      if (acknowledged || found.has(id)) expect(found.get(id)?.inputs).toEqual(inputs);
  }
};

it(`loses nothing that was acknowledged, and stores nothing twice, in ${rounds} rounds`, async () => {
  let key = '';
  const ever = new Map<string, Sent>();
  for (let round = 0; round < rounds; round++) {
    last = await startSvc(dataDir, testProject);
    key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
    await check(last.url, key, [...ever.values()]);
    const pending = [...ever.values()].filter((run) => !run.acknowledged);
    let taken = 0;
    const killing = killAfter(() => taken > 2, 300);
    const sent = await sendUntilDeath(last.url, key, pending, () => taken++);
    await killing;
    for (const run of sent) ever.set(run.id, run);
  }
  last = await startSvc(dataDir, testProject);
  await check(last.url, key, [...ever.values()]);
  expect([...ever.values()].filter((run) => run.acknowledged).length).toBeGreaterThan(rounds * 10);
}, 600_000);

it('accepts what the stock client sends again after the server was killed', async () => {
  if (!last) throw new Error('the rounds have not left a server');
  const key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
  const { port } = new URL(last.url);
  const client = new Client({ apiUrl: `${last.url}/api/v1`, apiKey: key, autoBatchTracing: true });
  const root = new RunTree({ name: 'survivor', inputs: { a: 1 }, client });
  await root.postRun();
  await client.awaitPendingTraceBatches();
  await last.killAll();
  await root.end({ b: 2 });
  await root.patchRun();
  last = await startSvc(dataDir, testProject, port);
  await client.awaitPendingTraceBatches();
  const response = await post(last.url, key, '/runs/query', { id: [root.id] });
  expect(await response.json()).toMatchObject({
    runs: [{ inputs: { a: 1 }, outputs: { b: 2 }, status: 'success' }],
  });
}, 120_000);

const newSpans = (count: number): ReadableSpan[] => {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });
  for (let index = 0; index < count; index++)
    provider
      .getTracer('t')
      .startSpan('x', { attributes: { note: randomBytes(500).toString('hex') } })
      .end();
  return memory.getFinishedSpans();
};

it('has the spans that were acknowledged to an exporter once, after a kill in the middle of a batch', async () => {
  if (!last) throw new Error('the rounds have not left a server');
  await last.killAll();
  last = await startSvc(dataDir, testProject);
  const { url } = last;
  const { port } = new URL(url);
  const key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
  const newExporter = (timeoutMillis: number): OTLPTraceExporter =>
    new OTLPTraceExporter({
      url: `${url}/api/v1/otel/v1/traces`,
      headers: { 'x-api-key': key },
      timeoutMillis,
    });
  const send = (spans: ReadableSpan[], timeoutMs: number): Promise<boolean> =>
    new Promise((resolve) => newExporter(timeoutMs).export(spans, ({ code }) => resolve(code === 0)));
  const batches: { spans: ReadableSpan[]; taken: boolean }[] = [];
  let isOver = false;
  const sender = async (): Promise<void> => {
    while (!isOver) {
      const batch = { spans: newSpans(20), taken: false };
      batches.push(batch);
      batch.taken = await send(batch.spans, 1_000);
    }
  };
  const senders = Promise.all([sender(), sender(), sender()]);
  await killAfter(() => batches.some(({ taken }) => taken), 100);
  isOver = true;
  await senders;
  last = await startSvc(dataDir, testProject, port);
  const idsOf = ({ spans }: (typeof batches)[number]): string[] =>
    spans.map((span) => {
      const { spanId } = span.spanContext();
      return `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
    });
  const countOf = async (ids: string[]): Promise<number> => {
    const response = await post(url, key, '/runs/query', { id: ids });
    return ((await response.json()) as { runs: unknown[] }).runs.length;
  };
  expect(batches.some(({ taken }) => taken)).toBe(true);
  expect(batches.some(({ taken }) => !taken)).toBe(true);
  // A batch is stored as a whole, or not at all.
  for (const batch of batches) expect(batch.taken ? [20] : [0, 20]).toContain(await countOf(idsOf(batch)));
  for (const batch of batches.filter(({ taken }) => !taken)) {
    expect(await send(batch.spans, 20_000)).toBe(true);
    expect(await countOf(idsOf(batch))).toBe(20);
  }
}, 120_000);

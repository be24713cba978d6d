// kill -9 of every process while stock clients send traces. The rounds of test/durability kill it during batches of our own.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
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
import { afterAll, expect, it, vi } from 'vitest';
import { postTraces } from '../durability/sent-traces.ts';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { testProject } from '../server.ts';
import { scaled } from '../speed.ts';
import { sharedFolder } from '../folders.ts';

const dataDir = sharedFolder();
let last: SvcProcess | undefined;
afterAll(async () => {
  await last?.killAll();
});

/** Kills when one batch was accepted and others are in flight, however slow the machine. */
const killAfter = async (isTaken: () => boolean, spreadMs: number): Promise<void> => {
  await vi.waitUntil(isTaken, { timeout: 60_000, interval: 5 });
  await sleep(Math.random() * spreadMs);
  await last?.killAll();
};

it(
  'accepts what the stock client sends again after the server was killed',
  async () => {
    last ??= await startSvc(dataDir, testProject);
    const key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
    const { port } = new URL(last.url);
    const client = new Client({ apiUrl: `${last.url}/api/v1`, apiKey: key, autoBatchTracing: true });
    const root = new RunTree({ name: 'survivor', inputs: { a: 1 }, client });
    await root.postRun();
    await client.awaitPendingTraceBatches();
    await last.killAll();
    await root.end({ b: 2 });
    await root.patchRun();
    last = await startSvc(dataDir, testProject, { port });
    await client.awaitPendingTraceBatches();
    const response = await postTraces(last.url, key, '/runs/query', { id: [root.id] });
    expect(await response.json()).toMatchObject({
      runs: [{ inputs: { a: 1 }, outputs: { b: 2 }, status: 'success' }],
    });
  },
  scaled(120_000),
);

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

it(
  'has the spans that were acknowledged to an exporter once, after a kill in the middle of a batch',
  async () => {
    await last?.killAll();
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
    last = await startSvc(dataDir, testProject, { port });
    const idsOf = ({ spans }: (typeof batches)[number]): string[] =>
      spans.map((span) => {
        const { spanId } = span.spanContext();
        return `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
      });
    const countOf = async (ids: string[]): Promise<number> => {
      const response = await postTraces(url, key, '/runs/query', { id: ids });
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
  },
  scaled(120_000),
);

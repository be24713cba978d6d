// The cost of custom authentication: the same requests, alternately to a server with it and to one without.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@svc/sdk';
import { startMeasured, type Measured } from './processes.ts';
import { fixed, median, type Report } from './report.ts';

const blocks = 30;
const perBlock = 50;

interface Side {
  server: Measured;
  client: Client;
  thread_id: string;
  dir: string;
}

const open = async (project: string): Promise<Side> => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-auth-'));
  const server = await startMeasured(dir, { project, env: { SVC_RATE_LIMIT: 'none' } });
  const client = createClient({ apiUrl: server.url, headers: { authorization: 'Bearer a-user' } });
  const { thread_id } = await client.threads.create();
  return { server, client, thread_id, dir };
};

const latencies = async (work: () => Promise<unknown>): Promise<number[]> => {
  const all: number[] = [];
  for (let at = 0; at < perBlock; at++) {
    const startedMs = performance.now();
    await work();
    all.push(performance.now() - startedMs);
  }
  return all;
};

/** Measures both sides alternately, so that other work of the machine affects both. */
const compare = async (
  [without, with_]: [Side, Side],
  work: (side: Side) => Promise<unknown>,
): Promise<{ added: number; base: number; cpu: number }> => {
  const [a, b]: [number[], number[]] = [[], []];
  for (const side of [without, with_]) await latencies(() => work(side));
  const cpu = [without.server.cpuMs(), with_.server.cpuMs()];
  for (let block = 0; block < blocks; block++) {
    a.push(...(await latencies(() => work(without))));
    b.push(...(await latencies(() => work(with_))));
  }
  const spent = (side: Side, at: number) => (side.server.cpuMs() - (cpu[at] ?? 0)) / (blocks * perBlock);
  const base = median(a);
  return { added: median(b) - base, base, cpu: spent(with_, 1) - spent(without, 0) };
};

export const authentication = async (report: Report): Promise<void> => {
  const sides: [Side, Side] = [await open('./svc.json'), await open('./auth.svc.json')];
  const requests: [string, (side: Side) => Promise<unknown>][] = [
    ['thread get', ({ client, thread_id }) => client.threads.get(thread_id)],
    ['thread search', ({ client }) => client.threads.search({ limit: 1 })],
    ['thread create', ({ client }) => client.threads.create()],
  ];
  for (const [name, work] of requests) {
    const { added, base, cpu } = await compare(sides, work);
    report(
      `${name} with custom authentication: added latency, p50, and CPU`,
      '<= 0.2 ms',
      `${fixed(added)} ms on ${fixed(base)}; ${fixed(cpu)} ms`,
    );
  }
  for (const { server, dir } of sides) {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
};

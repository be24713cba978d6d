// The cost of several nodes, many sleeping runs and many readers.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from '@svc/sdk';
import { startMeasured, type Measured } from './processes.ts';
import type { Report } from './report.ts';
import { fixed, median } from './report.ts';

const now = (): number => performance.timeOrigin + performance.now();

/** The age of events when a reader on another node receives them. */
export const acrossNodes = async (dataDir: string, report: Report): Promise<void> => {
  const worker = await startMeasured(dataDir, { flags: ['--role', 'worker'] });
  const api = await startMeasured(dataDir, { flags: ['--role', 'api'] });
  const client = createClient({ apiUrl: api.url });
  const ages = async (): Promise<number[]> => {
    const received: number[] = [];
    for await (const { event, data } of client.runs.stream(null, 'clock', {
      input: { count: 100 },
      stream_mode: 'custom',
    })) {
      if (event === 'custom') received.push(now() - Number(data));
    }
    return received;
  };
  await ages();
  const received = [...(await ages()), ...(await ages())];
  report(
    'event of a run on another node: its age when a client has it, p50',
    '',
    `${fixed(median(received))} ms`,
  );
  await api.stop();
  await worker.stop();
};

/** CPU time for the leases of a thousand runs that only sleep. */
export const sleepers = async (dataDir: string, report: Report): Promise<void> => {
  const leaseMs = 3_000;
  const server = await startMeasured(dataDir, {
    flags: ['--n-jobs-per-worker', '1000'],
    env: { SVC_LEASE: `${leaseMs}ms`, SVC_SHUTDOWN_GRACE: '0s' },
  });
  const client = createClient({ apiUrl: server.url });
  const idle = await cpuPerSecond(server);
  for (let started = 0; started < 1_000; started += 50) {
    await Promise.all(
      Array.from({ length: 50 }, () => client.runs.create(null, 'sleeper', { input: { count: 600_000 } })),
    );
  }
  await sleep(leaseMs);
  const busy = await cpuPerSecond(server);
  const perRenewal = (busy - idle) / 1_000 / (3_000 / leaseMs);
  report(
    'renewing 1,000 leases, every 10 s as by default: CPU of everything',
    '',
    `${fixed((perRenewal * 1_000) / 10, 1)} ms/s (${fixed(busy - idle, 1)} ms/s with renewals every second)`,
  );
  await stopAll(client, server);
};

const cpuPerSecond = async (server: Measured): Promise<number> => {
  const before = server.cpuMs();
  await sleep(10_000);
  return (server.cpuMs() - before) / 10;
};

const open = (url: string, path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`);
    });
    socket.once('data', () => resolve(socket));
    socket.once('error', reject);
  });

/** Many readers of a run without events, and readers that do not read a run with many events. */
export const manyReaders = async (dataDir: string, report: Report): Promise<void> => {
  const server = await startMeasured(dataDir, { env: { SVC_SHUTDOWN_GRACE: '0s' } });
  const client = createClient({ apiUrl: server.url });
  const silent = await client.runs.create(null, 'sleeper', { input: { count: 600_000 } });
  await sleep(2_000);
  const before = server.memoryMb();
  const sockets: Socket[] = [];
  const path = `/threads/${silent.thread_id}/runs/${silent.run_id}/stream`;
  for (let opened = 0; opened < 5_000; opened += 100) {
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => open(server.url, path)))));
  }
  for (const socket of sockets) socket.resume();
  await sleep(12_000);
  report(
    '5,000 idle readers of a stream: memory of the server process',
    '<= 150 MB',
    `${fixed(server.memoryMb() - before, 0)} MB`,
  );
  await stalledReaders(client, server, report);
  for (const socket of sockets) socket.destroy();
  await stopAll(client, server);
};

/** Cancels the runs: runs that were given back would use the slots of the next server. */
const stopAll = async (client: Client, server: Measured): Promise<void> => {
  await client.runs.cancelMany({ status: 'all' });
  await server.stop();
};

const stalledReaders = async (client: Client, server: Measured, report: Report): Promise<void> => {
  const before = server.memoryMb();
  const { thread_id } = await client.threads.create();
  const run = await client.runs.create(thread_id, 'sleeper', { input: { count: 5_000 } });
  const flooding = await client.runs.create(thread_id, 'flood', {
    input: { count: 20_000 },
    stream_mode: 'custom',
  });
  const path = `/threads/${thread_id}/runs/${flooding.run_id}/stream`;
  const waiting = Array.from({ length: 50 }, () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`),
    );
    socket.on('error', () => undefined); // the server closes the connection, as measured here
    return socket.pause();
  });
  await client.runs.join(thread_id, run.run_id);
  let peak = before;
  let isOver = false;
  const over = client.runs.join(thread_id, flooding.run_id).then(() => (isOver = true));
  while (!isOver) {
    peak = Math.max(peak, server.memoryMb());
    await sleep(50);
  }
  await over;
  report(
    '50 readers that never read 20 MB of events: memory at its peak',
    '',
    `${fixed(peak - before, 0)} MB`,
  );
  for (const socket of waiting) socket.destroy();
};

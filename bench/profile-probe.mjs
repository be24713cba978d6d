// Loaded before every process of a server: SIGUSR2 starts a CPU profile, and the next SIGUSR2 writes it to the folder SVC_BENCH_PROFILES.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.SVC_BENCH_PROFILES;

let session;

const toggle = async () => {
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 500 });
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = undefined;
  writeFileSync(join(folder, `${process.pid}.cpuprofile`), JSON.stringify(profile));
};

if (folder !== undefined && isMainThread) process.on('SIGUSR2', () => void toggle());

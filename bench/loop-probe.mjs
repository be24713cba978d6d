// Loaded before a server: records the delays of its event loop, in lines of `<time> <milliseconds> <waiting for a core>`.
import { appendFileSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env.SVC_BENCH_LOOP_FILE;
const resolution = 5;

/** Milliseconds that the main thread was ready to run while other processes had the cores. */
const waited = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;

// Executors load this file too, and are not measured.
if (file !== undefined && isMainThread && process.argv.includes('start')) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let before = waited();
  setInterval(() => {
    const now = waited();
    const ms = Math.max(0, delay.max / 1e6 - resolution);
    appendFileSync(file, `${Date.now()} ${ms.toFixed(1)} ${(now - before).toFixed(1)}\n`);
    before = now;
    delay.reset();
  }, 50).unref();
}

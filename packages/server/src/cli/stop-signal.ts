import { processEnvironment } from '../config/environment.ts';
import type { Logger } from '../telemetry/logger.ts';

/** One Ctrl-C arrives twice below `npm start`: from the terminal, and from npm, which passes its own on. */
const sameKeyMs = 500;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

export interface StopSignals {
  /** Resolves at the first SIGINT or SIGTERM. */
  stop: Promise<void>;
  /** Fires then, too. */
  stopping: AbortSignal;
  /** Fires at the second: what may take its time should not. A third ends the process at once. */
  hurry: AbortSignal;
}

export function stopSignals(): StopSignals {
  const hurry = new AbortController();
  const stopping = new AbortController();
  const stop = new Promise<void>((resolve) => {
    let lastAtMs = -Infinity;
    let count = 0;
    const onSignal = (signal: keyof typeof exitCodes): void => {
      const nowMs = performance.now();
      if (nowMs - lastAtMs < sameKeyMs) return;
      lastAtMs = nowMs;
      count += 1;
      if (count === 1) {
        console.log('\nStopping: runs may finish. A second signal gives them back at once.');
        stopping.abort();
        resolve();
      } else if (count === 2) hurry.abort();
      else process.exit(exitCodes[signal]);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    // After a signal, the end of npm is no second one.
    onNpmEnd(() => {
      if (count === 0) onSignal('SIGTERM');
    });
  });
  return { stop, stopping: stopping.signal, hurry: hurry.signal };
}

/** How often to look whether npm still runs. */
const npmPollMs = 500;

/**
 * npm starts a script through a shell, which does not pass on a SIGTERM that npm got: both end, and this process has another
 * parent from then on.
 */
function onNpmEnd(stop: () => void): void {
  if (processEnvironment()['npm_lifecycle_event'] === undefined) return;
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    stop();
  }, npmPollMs);
  timer.unref();
}

/** What nobody caught leaves the process in a state nobody knows: log it and go. */
export function exitOnUncaught(logger: Logger): void {
  const fail = (err: unknown): never => {
    logger.fatal({ err }, 'an error was not caught');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}

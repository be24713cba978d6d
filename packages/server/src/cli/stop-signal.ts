import { reportCustomCode } from '../app/custom-code.ts';
import { processEnvironment } from '../config/environment.ts';
import type { Logger } from '../telemetry/logger.ts';
import { exitCodeOfSignal, Interrupted } from './output/exit-code.ts';
import { onAbort } from '../abort.ts';
import { explain } from './output/explain.ts';

/** Below `npm start`, one Ctrl-C causes two signals: one from the terminal, and one that npm forwards. */
const sameKeyMs = 500;

export interface StopSignals {
  /** Resolves at the first SIGINT or SIGTERM. */
  stop: Promise<void>;
  /** Aborted at that signal. */
  stopping: AbortSignal;
  /** Aborted at the second signal: the stop should not wait any longer. A third signal ends the process at once. */
  hurry: AbortSignal;
}

export function stopSignals(): StopSignals {
  const hurry = new AbortController();
  const stopping = new AbortController();
  const stop = new Promise<void>((resolve) => {
    let lastAtMs = -Infinity;
    let count = 0;
    const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
      const nowMs = performance.now();
      if (nowMs - lastAtMs < sameKeyMs) return;
      lastAtMs = nowMs;
      count += 1;
      if (count === 1) {
        console.log(
          '\nStopping when all runs have ended. A second signal stops at once; other servers continue the runs.',
        );
        stopping.abort();
        resolve();
      } else if (count === 2) hurry.abort();
      else process.exit(exitCodeOfSignal(signal));
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    // After a signal, the end of npm does not count as the second one.
    onNpmEnd(() => {
      if (count === 0) onSignal('SIGTERM');
    });
  });
  return { stop, stopping: stopping.signal, hurry: hurry.signal };
}

/** Interval of the check whether npm still runs. */
const npmPollMs = 500;

/**
 * npm starts a script through a shell. The shell does not forward a SIGTERM that npm received: both end, and this process gets
 * another parent.
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

/** Logs an uncaught error and ends the process, because its state is unknown. Errors of the project's custom app are only logged. */
export function exitOnUncaught(logger: Logger): void {
  const fail = (err: unknown): void => {
    if (reportCustomCode(err)) return;
    logger.fatal({ err }, 'uncaught error');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}

/** Aborts the signal of `work` at the first SIGINT or SIGTERM. The next one ends the process. */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT' || signal === 'SIGTERM') stop.abort(new Interrupted(signal));
  };
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
};

// Start and end of the commands that serve.

/** Time for a start that is stopped to close what it has opened. */
const closeMs = 10_000;

/** Waits for a start. Ends the process when a stop takes too long, and at the second signal. */
export async function startOrStop<T>(starting: Promise<T>, { stopping, hurry }: StopSignals): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const leave = (): never => {
    console.error('svc: stopped during the start; not everything was closed');
    process.exit(1);
  };
  const onStop = (): void => void (timer = setTimeout(leave, closeMs));
  const removals = [onAbort(stopping, onStop), onAbort(hurry, leave)];
  try {
    return await starting;
  } finally {
    clearTimeout(timer);
    for (const remove of removals) remove();
  }
}

/** Does the work and then ends the process: open handles of the user's code must not keep it running. */
export async function serveToExit(work: () => Promise<void>, { stopping }: StopSignals): Promise<never> {
  try {
    await work();
  } catch (error) {
    if (!isStop(error, stopping)) {
      console.error(explain(error));
      process.exit(1);
    }
  }
  process.exit(0);
}

/** Whether the error is only the effect of a stop. */
export function isStop(error: unknown, stopping: AbortSignal): boolean {
  return (
    stopping.aborted && (error === stopping.reason || (error as Error | undefined)?.name === 'AbortError')
  );
}

// How commands that serve start and end, whatever happens on the way.
import { onAbort } from '../abort.ts';
import { explain } from './output/explain.ts';
import type { StopSignals } from './stop-signal.ts';

/** How long a start that is told to stop may take to close what it has opened. */
const closeMs = 10_000;

/** Waits for a start. When it is told to stop and does not, or is told twice, the process ends. */
export async function startOrStop<T>(starting: Promise<T>, { stopping, hurry }: StopSignals): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const leave = (): never => {
    console.error('svc: stopped while it started, before everything was closed');
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

/** Does the work and ends the process with it: handles of the user's code must not keep it alive. */
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

/** Whether the error is only what a start ends with that was told to stop. */
export function isStop(error: unknown, stopping: AbortSignal): boolean {
  return (
    stopping.aborted && (error === stopping.reason || (error as Error | undefined)?.name === 'AbortError')
  );
}

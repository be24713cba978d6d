// Start and end of the commands that serve.
import { onAbort } from '../abort.ts';
import { explain } from './output/explain.ts';
import type { StopSignals } from './stop-signal.ts';

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

// Forwards the events of one run to a reader of its thread.
import type { EventWriter } from '../../api/handlers.ts';
import { onAbort } from '../../abort.ts';
import type { MissedEvents, RunEvent } from '../../engine/streams/run-event-stream.ts';
import { readRun, type RunReplay } from '../../engine/streams/run-replay.ts';

export interface RunReceiver {
  sink: Pick<EventWriter, 'drained'>;
  stop: AbortSignal;
  /** Called before the event that follows events which are not available. */
  gap?: (missed: MissedEvents) => void;
}

/**
 * Passes the run's events to `send`, which returns false when the reader is behind. Resolves with true when the run was read to its end, and
 * with false when the receiver was stopped.
 */
export const forwardRun = async (
  reading: RunReplay,
  { sink, stop, gap = () => undefined }: RunReceiver,
  send: (event: RunEvent) => boolean,
): Promise<boolean> => {
  let close = (): void => reading.live?.close();
  let stopWaiting = (): void => undefined;
  try {
    return await new Promise<boolean>((resolve, reject) => {
      // The receiver may have been stopped before the subscription was made.
      stopWaiting = onAbort(stop, () => resolve(false));
      if (stop.aborted) return;
      close = readRun(reading, {
        send,
        gap,
        drained: () => sink.drained(),
        end: () => resolve(true),
        fail: reject,
      });
    });
  } finally {
    stopWaiting();
    close();
  }
};

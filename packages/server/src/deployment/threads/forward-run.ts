// Forwards the events of one run to the stream of its thread.
import type { EventWriter } from '../../api/handlers.ts';
import { onAbort } from '../../abort.ts';
import { readRun, type RunReplay } from '../../engine/streams/run-replay.ts';

export interface RunReceiver {
  /** The requested stream modes; empty for all events. */
  modes: ReadonlySet<string>;
  sink: EventWriter;
  stop: AbortSignal;
}

/** Sends the run's events until it ends or the receiver is stopped. Resolves with true when the run was read to its end. */
export const forwardRun = async (
  reading: RunReplay,
  { modes, sink, stop }: RunReceiver,
  run_id: string,
  onEvent: (id: number) => void,
): Promise<boolean> => {
  const isComplete = modes.size === 0 || modes.has('run_modes');
  let close = (): void => reading.live?.close();
  let stopWaiting = (): void => undefined;
  try {
    return await new Promise<boolean>((resolve, reject) => {
      // The receiver may have been stopped before the subscription was made.
      stopWaiting = onAbort(stop, () => resolve(false));
      if (stop.aborted) return;
      close = readRun(reading, {
        send: ({ id, event, data }) => {
          onEvent(id);
          const isSent = isComplete || (event === 'metadata' && modes.has('lifecycle'));
          return isSent ? sink.send({ id: `${run_id}:${id}`, event, data }) : true;
        },
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

// Sends the events of a run to one reader: first those that the log has after a given id, then live events. The log is
// read no faster than the reader consumes. Live events wait in the subscription meanwhile; when they are too many, they
// are read from the log as well. A reader that gives an id which does not exist yet gets live events only.
import type { RunLogStorage } from '../../storage/deployment/run-log.ts';
import { eventsOf } from './log-rows.ts';
import type { RunEvent, RunSubscription } from './run-event-stream.ts';

export interface ReplaySink {
  /** False when the reader is behind. */
  send(event: RunEvent): boolean;
  /** Settles when the reader has caught up, or has left. */
  drained(): Promise<void>;
  end(): void;
  fail(error: unknown): void;
}

export interface RunReplay {
  run_id: string;
  /** Undefined for a run that has ended and has no stream on this node. */
  live: RunSubscription | undefined;
  log: RunLogStorage;
  /** The id after which to begin: -1 for all. Undefined: live only. */
  after: number | undefined;
}

/** Characters of events read from the log at a time. */
const pageSize = 256 * 1024;

/** Starts reading. Returns a function that stops it. */
export const readRun = ({ run_id, live, log, after }: RunReplay, sink: ReplaySink): (() => void) => {
  let isStopped = false;
  let nextId = 0;

  /** Returns true when the log contains the end of the run, or reading was stopped. */
  const replay = async (): Promise<boolean> => {
    for (;;) {
      const rows = await log.page(run_id, nextId, pageSize);
      if (isStopped) return true;
      for (const row of rows) {
        for (const [position, [event, data]] of eventsOf(row).entries()) {
          const id = row.first_id + position;
          if (id < nextId) continue;
          nextId = id + 1;
          if (!sink.send({ id, event, data })) await sink.drained();
          if (isStopped) return true;
        }
        if (row.outcome !== null) return true;
      }
      if (rows.length === 0) return false;
    }
  };

  let isBehind = false;
  const goLive = (): boolean =>
    live?.attach({
      event: (event) => {
        if (event.id < nextId) return;
        nextId = event.id + 1;
        if (!sink.send(event)) isBehind = true;
      },
      consumed: () => (isBehind ? sink.drained().then(() => void (isBehind = false)) : undefined),
      end: () => sink.end(),
    }) ?? true;

  const read = async (from: number): Promise<void> => {
    const end = (await log.findEnd(run_id)) ?? 0;
    nextId = Math.min(from + 1, end);
    for (;;) {
      const isOver = await replay();
      if (isStopped) return;
      if (isOver || !live) return sink.end();
      if (goLive()) return;
    }
  };

  if (after !== undefined) read(after).catch((error: unknown) => sink.fail(error));
  else if (!live) sink.end();
  else if (!goLive()) sink.end();
  return () => {
    isStopped = true;
    live?.close();
  };
};

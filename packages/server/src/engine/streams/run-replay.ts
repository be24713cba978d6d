// Sends the events of a run to one reader: first those that the log has after a given id, then live events. The log is
// read no faster than the reader consumes. Live events wait in the subscription meanwhile; when they are too many, they
// are read from the log as well; if the log does not have them, the reader gets an error that says so. A reader that gives an id
// which does not exist yet gets live events only. A reader learns which events between those that it gets were dropped, or are in no log.
import type { RunLogStorage } from '../../storage/deployment/runs/run-log.ts';
import { eventsOf } from './log-rows.ts';
import type { MissedEvents, RunEvent, RunSubscription } from './run-event-stream.ts';
import { Problem } from '@svc/contract/problem';

export interface ReplaySink {
  /** False when the reader is behind. */
  send(event: RunEvent): boolean;
  /** Called before the event that follows events which are not available. */
  gap?(missed: MissedEvents): void;
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
  /** Undefined until the first event when the reader begins with live events. */
  let nextId: number | undefined;

  const send = (event: RunEvent): boolean => {
    if (nextId !== undefined && event.id > nextId) sink.gap?.({ from: nextId, until: event.id });
    nextId = event.id + 1;
    return sink.send(event);
  };

  /**
   * `over`: the log contains the end of the run, or reading was stopped. `lost`: the log lacks dropped events.
   */
  const replay = async (dropped?: MissedEvents): Promise<'over' | 'open' | 'lost'> => {
    const isLost = (nextLogged: number): boolean =>
      dropped !== undefined && (nextId ?? 0) < Math.min(nextLogged, dropped.until);
    for (;;) {
      const rows = await log.page(run_id, nextId ?? 0, pageSize);
      if (isStopped) return 'over';
      for (const row of rows) {
        for (const [position, [event, data]] of eventsOf(row).entries()) {
          const id = row.first_id + position;
          if (id < (nextId ?? 0)) continue;
          if (isLost(id)) return 'lost';
          if (!send({ id, event, data })) await sink.drained();
          if (isStopped) return 'over';
        }
        if (row.outcome !== null) return isLost(Infinity) ? 'lost' : 'over';
      }
      if (rows.length === 0) return isLost(Infinity) ? 'lost' : 'open';
    }
  };

  let isBehind = false;
  const goLive = (subscription: RunSubscription): MissedEvents | undefined =>
    subscription.attach({
      event: (event) => {
        if (event.id < (nextId ?? 0)) return;
        if (!send(event)) isBehind = true;
      },
      consumed: () => (isBehind ? sink.drained().then(() => void (isBehind = false)) : undefined),
      end: () => sink.end(),
    });

  /** Reads the log to its end, then live events. `missed`: dropped events, which the log may have. */
  const readLog = async (missed?: MissedEvents): Promise<void> => {
    for (let dropped = missed; ;) {
      const found = await replay(dropped);
      if (isStopped) return;
      if (dropped && found === 'lost') return sink.fail(missedEvents(run_id, nextId ?? 0, dropped));
      if (found === 'over' || !live) return sink.end();
      dropped = goLive(live);
      if (!dropped) return;
    }
  };

  const readAfter = async (id: number): Promise<void> => {
    const end = (await log.findEnd(run_id)) ?? 0;
    nextId = Math.min(id + 1, end);
    await readLog();
  };

  const readLive = async (subscription: RunSubscription): Promise<void> => {
    const missed = goLive(subscription);
    if (!missed) return;
    nextId = missed.from;
    await readLog(missed);
  };

  const reading = after !== undefined ? readAfter(after) : live ? readLive(live) : undefined;
  if (reading) reading.catch((error: unknown) => sink.fail(error));
  else sink.end();
  return () => {
    isStopped = true;
    live?.close();
  };
};

/** The event that reports a gap. It has no id, so a client continues after the last event that it got. */
export const gapEvent = (run_id: string, { from, until }: MissedEvents): { event: string; data: string } => {
  const message =
    `Events ${from} to ${until - 1} of run ${run_id} are not available: the run is not resumable, or had more events than its log and ` +
    'the buffers hold. The state of the thread and the result of the run contain what they reported';
  return { event: 'gap', data: JSON.stringify({ message, from, to: until - 1 }) };
};

const missedEvents = (run_id: string, nextId: number, { until }: MissedEvents): Problem =>
  new Problem(
    'unavailable',
    `Events ${nextId} to ${until - 1} of run ${run_id} were dropped, because more than 4 MB of events waited for this stream and the run has ` +
      'no log. The run continues: read its result with GET …/runs/{run_id}/join. Runs with stream_resumable have a log',
  );

// Converts rows of a run's log to events and outcomes.
import type { LoggedOutcome, LogRow } from '../../storage/deployment/runs/run-log.ts';
import type { RunOutcome } from './run-event-stream.ts';

/** The events of a row; the first has the row's `first_id`. */
export const eventsOf = ({ events }: LogRow): [event: string, data: string][] => {
  const lines = events.split('\n');
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < lines.length; at += 2) list.push([lines[at] ?? '', lines[at + 1] ?? '']);
  return list;
};

export const outcomeOf = (text: string): RunOutcome => {
  const { status, error, values } = JSON.parse(text) as LoggedOutcome;
  return {
    status: status as RunOutcome['status'],
    error: error === null ? null : (JSON.parse(error) as RunOutcome['error']),
    ...(values === null ? {} : { values }),
  };
};

// The stored events of a thread, read from the table, and the same events in its feed.
import type { FeedEvent } from '../thread-protocol/feed.ts';
import type { Cluster } from './cluster.ts';

/** An event that a feed has as it was stored. `at`: the first number of its run, and its number in the log of the run. */
interface Logged {
  at: string;
  method: string;
  content: unknown;
}

/** How the content of a stored event is found in its event of the feed, by the name of the stored one. */
const methods: Readonly<
  Record<string, { method: string; contentOf: (data: FeedEvent['params']['data']) => unknown }>
> = {
  values: { method: 'values', contentOf: (data) => data },
  updates: { method: 'updates', contentOf: ({ node, values }) => ({ [String(node)]: values }) },
  custom: { method: 'custom', contentOf: ({ payload }) => payload },
  checkpoint_refs: { method: 'checkpoints', contentOf: (data) => data },
  tasks: { method: 'tasks', contentOf: (data) => data },
};

/** Of the graph `journal`, which has no messages and no interrupts. */
export const loggedEvents = async (cluster: Cluster, thread_id: string): Promise<Logged[]> => {
  const rows = await cluster.query<{ first_seq: string; first_id: number; events: string }>(
    `select r.first_seq, e.first_id, e.events from runs r join run_events e using (run_id)
     where r.thread_id = $1 order by r.first_seq, e.first_id`,
    [thread_id],
  );
  return rows.flatMap(({ first_seq, first_id, events }) => {
    const lines = events.split('\n');
    return lines.flatMap((name, line) => {
      // Alternating lines: the name of an event, its data as JSON.
      const kind = line % 2 === 0 ? methods[name] : undefined;
      const at = `${first_seq}:${first_id + line / 2}`;
      const content = (): unknown => JSON.parse(lines[line + 1] ?? '');
      return kind === undefined ? [] : [{ at, method: kind.method, content: content() }];
    });
  });
};

/** The events of a feed that `loggedEvents` has too. */
export const asLogged = (events: readonly FeedEvent[]): Logged[] =>
  events.flatMap(({ event_id, method, params: { data } }) => {
    const kind = Object.values(methods).find((one) => one.method === method);
    const at = event_id.split(':').slice(0, 2).join(':');
    return kind === undefined ? [] : [{ at, method, content: kind.contentOf(data) }];
  });

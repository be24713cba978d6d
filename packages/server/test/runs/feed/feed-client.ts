// A client of the feed of run changes, which keeps what it receives.
import { expect } from 'vitest';
import { eventually } from '../../eventually.ts';

export interface FedRun {
  run_id: string;
  thread_id: string;
  status: string;
  attempt: number;
  updated_at: string;
  metadata: Record<string, unknown>;
}

export interface ReceivedEvent {
  event: string;
  id: string | undefined;
  data: unknown;
}

export interface FeedClient extends AsyncDisposable {
  status: number;
  events: ReceivedEvent[];
  /** The runs of all events so far. */
  runs: () => FedRun[];
  /** The states of a run, in the order of the events. */
  states: (run_id: string) => string[];
  lastId: () => string | undefined;
  /** True after the server has ended the stream. */
  isEnded: () => boolean;
  /** Resolves with the event. */
  first: (event: string) => Promise<ReceivedEvent>;
  close: () => Promise<void>;
}

export const openFeed = async (
  url: string,
  body: object = {},
  { lastEventId, headers = {} }: { lastEventId?: string | undefined; headers?: Record<string, string> } = {},
): Promise<FeedClient> => {
  const stop = new AbortController();
  const response = await fetch(`${url}/runs/feed`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    body: JSON.stringify(body),
    signal: stop.signal,
  });
  const events: ReceivedEvent[] = [];
  let isEnded = false;
  const reading = (async () => {
    try {
      for await (const event of eventsOf(response)) events.push(event);
    } catch {
      // The connection was closed, by this client or by the server.
    }
    isEnded = true;
  })();
  const runs = () => events.filter(({ event }) => event === 'run').map(({ data }) => data as FedRun);
  const close = async (): Promise<void> => {
    stop.abort();
    await reading;
  };
  return {
    status: response.status,
    events,
    runs,
    states: (run_id) => runs().flatMap((run) => (run.run_id === run_id ? [run.status] : [])),
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id,
    isEnded: () => isEnded,
    first: async (name) => {
      await eventually(() => expect(events.map(({ event }) => event)).toContain(name));
      return events.find(({ event }) => event === name) as ReceivedEvent;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};

async function* eventsOf(response: Response): AsyncGenerator<ReceivedEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const field = (name: string): string | undefined =>
        text
          .slice(0, end)
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const event = {
        event: field('event') ?? '',
        id: field('id'),
        data: JSON.parse(field('data') ?? 'null'),
      };
      text = text.slice(end + 2);
      yield event;
    }
  }
}

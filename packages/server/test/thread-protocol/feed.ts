// Reads a feed of thread protocol v2 without a client.
import { channels } from '../../src/deployment/thread-protocol/translation/protocol-event.ts';

export interface FeedEvent {
  type: 'event';
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: Record<string, unknown> };
}

export const allChannels: readonly string[] = channels;

/** Reads events until `isLast` holds for one, and closes the feed. */
export const readFeed = async (
  url: string,
  thread_id: string,
  isLast: (event: FeedEvent) => boolean,
  selection: object = {},
  headers: Record<string, string> = {},
): Promise<FeedEvent[]> => {
  const response = await fetch(`${url}/threads/${thread_id}/stream/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ channels: allChannels, ...selection }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  const events: FeedEvent[] = [];
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const fields = new Map(
        frame
          .split('\n')
          .filter((line) => !line.startsWith(':'))
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const event = JSON.parse(fields.get('data') ?? 'null') as FeedEvent;
      if (fields.get('id') !== event.event_id || fields.get('event') !== event.method)
        throw new Error(`The frame does not fit its event: ${frame}`);
      events.push(event);
      // Leaving the loop cancels the body.
      if (isLast(event)) return events;
    }
  }
  throw new Error(`The feed has ended: ${JSON.stringify(events.at(-1))}`);
};

/** The last event of a run. */
export const isRunEnd = ({ method, params }: FeedEvent): boolean =>
  method === 'lifecycle' &&
  params.namespace.length === 0 &&
  ['completed', 'failed', 'interrupted'].includes(String(params.data['event']));

export const isRunStart = ({ method, params }: FeedEvent): boolean =>
  method === 'lifecycle' && params.namespace.length === 0 && params.data['event'] === 'running';

/** True for the last event of the nth run that it sees. */
export const nthRunEnd = (count: number): ((event: FeedEvent) => boolean) => {
  let begun = 0;
  return (event) => {
    if (isRunStart(event)) begun += 1;
    return isRunEnd(event) && begun === count;
  };
};

/** The events that a reader gets which comes after the last run has begun: of the other runs it gets no end. */
export const seenLater = (events: readonly FeedEvent[]): FeedEvent[] => {
  const lastStart = events.findLastIndex(isRunStart);
  return events.filter((event, at) => at > lastStart || !isRunEnd(event));
};

/** Starts to read a feed, and resolves when its first event has arrived. `events` resolves like `readFeed()`. */
export const openFeed = async (
  url: string,
  thread_id: string,
  isLast: (event: FeedEvent) => boolean,
): Promise<{ events: Promise<FeedEvent[]> }> =>
  new Promise((resolve, reject) => {
    const events = readFeed(url, thread_id, (event) => {
      resolve({ events });
      return isLast(event);
    });
    events.catch(reject);
  });

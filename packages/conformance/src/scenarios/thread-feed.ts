// The feed of thread protocol v2 over server-sent events.
import { CheckFailed, get, getList, getText } from '../check.ts';
import type { ServerEvent } from '../events.ts';
import type { ServerClient } from '../server-client.ts';

export const feedChannels = ['values', 'updates', 'messages', 'lifecycle', 'input'];

/** The last event of a run. */
export const isRunEnd = (event: unknown): boolean =>
  get(event, 'method') === 'lifecycle' &&
  getList(event, 'params', 'namespace').length === 0 &&
  ['completed', 'failed', 'interrupted'].includes(getText(event, 'params', 'data', 'event'));

/** Events of the feed up to the end of a run. */
export const readFeed = async (
  server: ServerClient,
  id: string,
  selection: object = {},
): Promise<ServerEvent[]> => {
  const body = { channels: feedChannels, ...selection };
  const { events } = await server.stream('POST', `/threads/${id}/stream/events`, body);
  const read: ServerEvent[] = [];
  for await (const event of events) {
    read.push(event);
    // Leaving the loop closes the feed.
    if (isRunEnd(event.data)) return read;
  }
  throw new CheckFailed('expected the end of a run, but the feed ended before it');
};

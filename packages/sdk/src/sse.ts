// Server-sent events (HTML Living Standard, 9.2.6) of a response body.
import { createParser } from 'eventsource-parser';

export interface ServerEvent {
  /** The newest id of the stream: an event without an id has that of the event before it. */
  id: string | undefined;
  event: string;
  data: string;
}

/** Yields the events of a body, however the network splits its bytes. Comments (heartbeats) are skipped. */
export const readEvents = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let complete: ServerEvent[] = [];
  let lastId: string | undefined;
  const parser = createParser({
    onEvent: ({ id = lastId, event = 'message', data }) => {
      lastId = id;
      complete.push({ id, event, data });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const events = complete;
      complete = [];
      yield* events;
    }
  } finally {
    // A caller that stops reading also ends the request.
    await reader.cancel().catch(() => undefined); // a broken connection has nothing left to cancel
  }
};

/** Like `readEvents`, with the data of each event parsed. */
export const readJsonEvents = async function* (
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Omit<ServerEvent, 'data'> & { data: unknown }> {
  if (!body) return;
  for await (const { data, ...event } of readEvents(body))
    yield { ...event, data: JSON.parse(data) as unknown };
};

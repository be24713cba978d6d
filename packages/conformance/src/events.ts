// Server-sent events of a response.
import { createParser } from 'eventsource-parser';
import { CheckFailed } from './check.ts';

export interface ServerEvent {
  id: string | undefined;
  event: string;
  /** Parsed JSON; null for events without data. */
  data: unknown;
}

/** Characters of one stream that are read. */
const charsMax = 10_000_000;

export const readEvents = async function* (response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) throw new CheckFailed('expected a stream, got no body');
  let complete: ServerEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => complete.push({ id, event, data: parse(data) }),
  });
  let chars = 0;
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    chars += text.length;
    if (chars > charsMax) throw new CheckFailed(`expected a stream of less than ${charsMax} characters`);
    parser.feed(text);
    const events = complete;
    complete = [];
    yield* events;
  }
};

const parse = (data: string): unknown => {
  if (data === '') return null;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    throw new CheckFailed(`expected JSON as the data of an event, got ${data.slice(0, 200)}`);
  }
};

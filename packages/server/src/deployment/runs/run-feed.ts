// The events of a run as a stream for one client.
import { readRun, type RunReplay } from '../../engine/streams/run-replay.ts';
import { EventFeed } from '../../api/handlers.ts';

/** Only events of the stream modes asked for, if any are. */
export const runFeed = (reading: RunReplay, asked: string[] = []): EventFeed =>
  new EventFeed((sink) => {
    const wanted = new Set(asked.map(eventOf));
    return readRun(reading, {
      send: ({ id, event, data }) =>
        wanted.size === 0 || isWanted(event, wanted) ? sink.send({ id: String(id), event, data }) : true,
      drained: () => sink.drained(),
      end: () => sink.end(),
      fail: (error) => sink.fail(error),
    });
  });

const eventOf = (mode: string): string => (mode === 'messages-tuple' ? 'messages' : mode);

/** A mode's events are those of its name, of `name|namespace`, and for `messages` also of `messages/…`. */
const isWanted = (event: string, wanted: ReadonlySet<string>): boolean => {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  return wanted.has(name) || name === 'metadata' || name === 'error';
};

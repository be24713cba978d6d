// The events of a run as an SSE response.
import { gapEvent, readRun, type RunReplay } from '../../engine/streams/run-replay.ts';
import { EventStreamResponse, type EventWriter } from '../../api/handlers.ts';

interface ResponseOptions {
  /** Filters by these stream modes; without modes, all events are sent. */
  modes?: string[] | undefined;
  /** Ends the stream after the last event of the run. Must not reject. */
  end?: (sink: EventWriter) => void | Promise<void>;
}

export const runEventResponse = (
  reading: RunReplay,
  { modes = [], end = (sink) => sink.end() }: ResponseOptions = {},
): EventStreamResponse =>
  new EventStreamResponse((sink) => {
    const wanted = new Set(modes.map(eventOf));
    return readRun(reading, {
      send: ({ id, event, data }) =>
        wanted.size === 0 || isWanted(event, wanted) ? sink.send({ id: String(id), event, data }) : true,
      gap: (missed) => void sink.send(gapEvent(reading.run_id, missed)),
      drained: () => sink.drained(),
      end: () => void end(sink),
      fail: (error) => sink.fail(error),
    });
  });

const eventOf = (mode: string): string => (mode === 'messages-tuple' ? 'messages' : mode);

/** Events of a mode have its name, or `name|namespace`; for `messages` also `messages/…`. */
const isWanted = (event: string, wanted: ReadonlySet<string>): boolean => {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  return wanted.has(name) || name === 'metadata' || name === 'error';
};

// The events of a run as an SSE response.
import { EventStreamResponse, type EventSink } from '../../api/handlers.ts';
import {
  gapEvent,
  type MissedEvents,
  type RunEvent,
  type RunSubscription,
} from '../../engine/streams/run-subscription.ts';

interface ResponseOptions {
  /** Filters by these stream modes; without modes, all events are sent. */
  modes?: string[] | undefined;
  /** Sends what follows the last event of the run. */
  atEnd?: ((sink: EventSink) => Promise<void>) | undefined;
}

export const runEventResponse = (
  subscription: RunSubscription,
  { modes = [], atEnd }: ResponseOptions = {},
): EventStreamResponse =>
  new EventStreamResponse(async (sink, stop) => {
    const wanted = new Set(modes.map(eventOf));
    const reader = {
      send: ({ id, event, data }: RunEvent) =>
        wanted.size === 0 || isWanted(event, wanted) ? sink.send({ id: String(id), event, data }) : true,
      gap: (missed: MissedEvents) => void sink.send(gapEvent(subscription.run_id, missed)),
      drained: () => sink.drained(),
    };
    if (await subscription.read(reader, stop)) await atEnd?.(sink);
  });

const eventOf = (mode: string): string => (mode === 'messages-tuple' ? 'messages' : mode);

/** Events of a mode have its name, or `name|namespace`; for `messages` also `messages/…`. */
const isWanted = (event: string, wanted: ReadonlySet<string>): boolean => {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  return wanted.has(name) || name === 'metadata' || name === 'error';
};

// Events of thread protocol v2, before and after they are numbered.

/** Channels of the protocol; `custom:<name>` selects custom events with that name. */
export const channels = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const;
export type Channel = (typeof channels)[number];

/** What one logged event is translated to. */
export interface ProtocolEvent {
  channel: Channel;
  method: string;
  namespace: readonly string[];
  node?: string | undefined;
  data: unknown;
  /**
   * Unique among the events that one logged event is translated to. It names the content and not the position, so that a reader of a log
   * whose oldest events were deleted computes the same ids.
   */
  key: string;
  /** The run has one event with this key, whichever logged event it is translated from. */
  isOnce?: true;
}

/** An event with its place in the sequence of the thread. */
export interface NumberedEvent extends ProtocolEvent {
  event_id: string;
  seq: number;
  /** Milliseconds since 1970. */
  timestamp: number;
}

/** A logged event, parsed. */
export interface LoggedEvent {
  /** The name without the namespace, such as `values` or `messages`. */
  name: string;
  /** The graph that emitted the event; empty for the root. */
  namespace: readonly string[];
  data: unknown;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export const textOr = <T>(value: unknown, other: T): string | T =>
  typeof value === 'string' ? value : other;

/** The JSON text of an event, as clients get it. */
export const eventText = ({
  event_id,
  seq,
  method,
  namespace,
  node,
  timestamp,
  data,
}: NumberedEvent): string =>
  JSON.stringify({
    type: 'event',
    event_id,
    seq,
    method,
    params: { namespace, timestamp, ...(node === undefined ? {} : { node }), data: data ?? null },
  });

// Events of thread protocol v2, before and after they are numbered.
import { toJsonText } from '../../../api/json-text.ts';

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
  /** The namespace of the graph, when `namespace` is that of one of its tasks. */
  graph?: readonly string[] | undefined;
  node?: string | undefined;
  /** A JsonText when the data is sent as the log has it: parsing it and rendering it again would take most of the time of a translation. */
  data: unknown;
  /**
   * Unique among the events that one logged event is translated to. It names the content and not the position, so that a reader of a log
   * whose oldest events were deleted computes the same ids.
   */
  key: string;
  /** The run has one event with this key, whichever logged event it is translated from. */
  isOnce?: true | undefined;
  /** The server reports the event; it is translated from no logged event. Its id names the run. */
  isSynthesized?: true | undefined;
}

/** An event with its place in the sequence of the thread. */
export interface NumberedEvent extends Omit<ProtocolEvent, 'graph' | 'key' | 'isSynthesized'> {
  event_id: string;
  seq: number;
  /** The smallest `since` of a reader that gets the event; -1 for all readers. */
  minSince: number;
  /** Milliseconds since 1970. */
  timestamp: number;
}

/** A logged event, parsed. */
export interface LoggedEvent {
  /** What `data` was parsed from. */
  text: string;
  /** The name without the namespace, such as `values` or `messages`. */
  name: string;
  /** The graph that emitted the event; empty for the root. */
  namespace: readonly string[];
  data: unknown;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export const textOr = <T>(value: unknown, other: T): string | T =>
  typeof value === 'string' ? value : other;

/** The JSON text of an event, as clients get it. It is joined from parts, because `data` may be a text already. */
export const eventText = (event: NumberedEvent): string => {
  const { event_id, seq, method, namespace, node, timestamp, data } = event;
  const path = namespace.length === 0 ? '[]' : JSON.stringify(namespace);
  const from = node === undefined ? '' : `"node":${JSON.stringify(node)},`;
  return (
    `{"type":"event","event_id":${JSON.stringify(event_id)},"seq":${seq},"method":"${method}",` +
    `"params":{"namespace":${path},"timestamp":${timestamp},${from}"data":${toJsonText(data ?? null)}}}`
  );
};

// The events that a reader has selected: channels, namespaces by prefix, the depth below them.
import { isRecord } from '../../json/is-record.ts';
import { channels as allChannels, type NumberedEvent } from './translation/protocol-event.ts';

export interface EventSelection {
  /** Channels, and `custom:<name>`. */
  channels: readonly string[];
  namespaces?: readonly (readonly string[])[] | undefined;
  depth?: number | undefined;
}

/** What a reader gets. */
export interface EventFilter {
  /** `since`: the number after which the reader has begun to read. `isReplay`: the run had ended before the feed began to read it. */
  isSelected: (event: NumberedEvent, since: number, isReplay: boolean) => boolean;
  /** Only some namespaces are selected: a page reads the root so, and selects others when it shows them. */
  isNarrow: boolean;
  /** Channels without selected events. */
  unread: ReadonlySet<string>;
}

/** A segment is `node:task`; a filter may name the node alone. */
const matchesSegment = (segment: string | undefined, wanted: string): boolean =>
  segment === wanted || (!wanted.includes(':') && segment?.split(':', 1)[0] === wanted);

const isBelow = (namespace: readonly string[], prefix: readonly string[], depth: number): boolean =>
  namespace.length - prefix.length <= depth &&
  prefix.every((wanted, at) => matchesSegment(namespace[at], wanted));

const nameOf = ({ data }: NumberedEvent): unknown => (isRecord(data) ? data['name'] : undefined);

export const eventFilter = ({ channels, namespaces = [], depth = Infinity }: EventSelection): EventFilter => {
  const wanted = new Set(channels);
  const read = new Set(channels.map((channel) => channel.split(':', 1)[0]));
  return {
    isNarrow: namespaces.length > 0,
    unread: new Set(allChannels.filter((channel) => !read.has(channel))),
    isSelected: (event, since) => {
      const { channel, namespace, minSince } = event;
      if (minSince > since) return false;
      const isWanted =
        wanted.has(channel) || (channel === 'custom' && wanted.has(`custom:${String(nameOf(event))}`));
      if (!isWanted) return false;
      return namespaces.length === 0
        ? namespace.length <= depth
        : namespaces.some((prefix) => isBelow(namespace, prefix, depth));
    },
  };
};

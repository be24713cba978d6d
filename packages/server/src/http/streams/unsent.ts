// Counts the memory of large responses until the client has read them, and disconnects a client that reads nothing.
import type { ServerResponse } from 'node:http';
import type { RequestMemory } from '../../parsing/request-memory.ts';

export interface UnsentOptions {
  memory: RequestMemory;
  /** How long a client may read nothing of a large response before its connection is closed. */
  stalledMs: number;
}

/** Smaller responses are not counted: the buffers of a socket contain most of them. */
const countedBytesMin = 262_144;

/** Counts `bytes` that are about to be sent as memory, until they are sent or the connection is closed. */
export const countUnsent = (
  out: ServerResponse | undefined,
  bytes: number,
  { memory, stalledMs }: UnsentOptions,
): void => {
  if (out === undefined || out.destroyed || bytes < countedBytesMin) return;
  out.once('close', memory.count(bytes));
  // To Node, a socket that has sent a part of its data is not idle.
  out.setTimeout(stalledMs, () => out.destroy());
};

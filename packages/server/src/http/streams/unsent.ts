// Large answers on their way to a client. They are in memory until the client has read them, and a client may read nothing.
import type { ServerResponse } from 'node:http';
import type { RequestMemory } from '../../parsing/request-memory.ts';

export interface UnsentOptions {
  memory: RequestMemory;
  /** How long a client may take nothing of a large answer before its connection is ended. */
  stalledMs: number;
}

/** Smaller answers are not counted: the buffers of a socket take most of them. */
const countedBytesMin = 262_144;

/** `bytes` are about to be sent. They count as memory until they are sent, or the connection is closed. */
export const countUnsent = (
  out: ServerResponse | undefined,
  bytes: number,
  { memory, stalledMs }: UnsentOptions,
): void => {
  if (out === undefined || out.destroyed || bytes < countedBytesMin) return;
  out.once('close', memory.count(bytes));
  // A socket that has sent a part of what it holds is not idle for Node.
  out.setTimeout(stalledMs, () => out.destroy());
};

// Bodies of responses that are sent over time, as Node streams and as web streams.
import { PassThrough, Readable, type Writable } from 'node:stream';
import type { ServerResponse } from 'node:http';
import type { JsonPart } from '../../parsing/json-bytes.ts';
import { mappedText } from '../../parsing/mapped-bytes.ts';
import type { RequestCall } from '../routing/call.ts';
import type { RequestMemory } from '../../parsing/request-memory.ts';

/**
 * A writable body for a response that another part of the program sends. It is closed when its reader cancels. It is also closed when the
 * client has disconnected, because middleware may have dropped the response without cancelling its body.
 */
export const openBody = (call: RequestCall): { through: PassThrough; readable: ReadableStream } => {
  const through = new PassThrough();
  const signal = call.outer?.closed ?? call.signal;
  const close = (): void => void through.destroy();
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  through.once('close', () => signal.removeEventListener('abort', close));
  call.streamed = through;
  // At most one chunk is buffered outside of Node's stream: the length of Node's buffer decides whether the reader is slow.
  const strategy = new CountQueuingStrategy({ highWaterMark: 1 });
  return { through, readable: Readable.toWeb(through, { strategy }) as ReadableStream };
};

/** Copies the blocks: their buffers may be resizable, which many Web APIs reject, and middleware may pass the pieces to them. */
function* piecesOf(parts: readonly JsonPart[]): Generator<Uint8Array> {
  for (const part of parts)
    if (typeof part === 'string') yield Buffer.from(part);
    else for (const block of part.blocks) yield block.slice();
}

/** Sends the parts of a long text one after the other. Joining them would need memory for two copies: the string and its bytes. */
export const partsBody = (parts: readonly JsonPart[]): ReadableStream =>
  Readable.toWeb(Readable.from(piecesOf(parts)), {
    strategy: new CountQueuingStrategy({ highWaterMark: 1 }),
  }) as ReadableStream;

/** Node would encode all long strings at once, to memory from malloc(). */
const longText = 65_536;
const bytesOf = (text: string): string | Uint8Array => (text.length < longText ? text : mappedText(text));

export const writeParts = (out: Writable, parts: readonly JsonPart[]): void => {
  out.cork();
  for (const part of parts)
    for (const piece of typeof part === 'string' ? [bytesOf(part)] : part.blocks) out.write(piece);
  out.end();
};

// Counts the memory of large responses until the client has read them, and disconnects a client that reads nothing.

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

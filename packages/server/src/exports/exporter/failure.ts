// Converts an error to the outcome `failed`: a message that is safe to show to users, and whether a retry may help.
import { Problem } from '@svc/contract/problem';
import { DestinationError } from '../../s3/destination-error.ts';
import type { ExportOutcome } from './exporter-protocol.ts';

const diskCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** DuckDB's errors have no codes. */
const diskText = /no space left on device|disk quota exceeded|file too large/i;
const memoryText = /^(Out of Memory Error|Allocation failure)/;
const bytesMax = 2_048;

/** Errors of the system, the database and JavaScript may contain paths, statements and values. Only their code or name is shown. */
const messageOf = (error: unknown): string => {
  if (error instanceof DestinationError)
    return error.message.includes(error.code) ? error.message : `${error.message} (${error.code})`;
  if (error instanceof Problem) return error.message;
  const { code, name, message = '' } = error as { code?: unknown; name?: unknown; message?: string };
  if ((typeof code === 'string' && diskCodes.has(code)) || diskText.test(message))
    return 'The disk for temporary files of the server is full';
  if (error instanceof RangeError || memoryText.test(message))
    return 'A row or file does not fit into the memory of the server';
  const kind = typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : name;
  return `Internal error during the export (${typeof kind === 'string' ? kind : 'unknown'}); see the server's log`;
};

/** Limits the text to `bytesMax` bytes, and cuts between characters. */
const cut = (text: string): string =>
  Buffer.byteLength(text) <= bytesMax
    ? text
    : Buffer.from(text)
        .subarray(0, bytesMax - 3)
        .toString()
        .replace(/\uFFFD+$/, '') + '…';

export const toFailure = (error: unknown): Extract<ExportOutcome, { kind: 'failed' }> => ({
  kind: 'failed',
  cause: error instanceof DestinationError && error.isFinal ? 'destination' : 'error',
  message: cut(messageOf(error)),
  detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
});

// Parts of large JSON files, which are read one by one. The scan of a file finds where they are.
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Problem } from '@svc/contract/problem';

/** The bytes of one JSON value in a file. */
export type FilePart = readonly [start: number, end: number];

/** A larger part is not read: it would be in memory several times. */
export const partBytesMax = 134_217_728;

/** Names the file and the place for people. */
export const placeOf = (file: string, [start]: FilePart): string => `${basename(file)}, byte ${start}`;

export const damagedPart = (file: string, part: FilePart, reason: string, cause?: unknown): Problem =>
  new Problem('invalid', `${placeOf(file, part)}: ${reason}`, { cause });

/** Identifies the content of a file, as far as its size and its time of change do. */
export const versionOf = async (handle: FileHandle): Promise<string> => {
  const { size, mtimeMs } = await handle.stat();
  return `${size} ${mtimeMs}`;
};

export const changedFile = (file: string): Problem =>
  new Problem(
    'conflict',
    `${basename(file)} was changed while it was read. Stop the dev server, and import again`,
  );

/** Reads and parses a part. Throws `invalid` with the place when it is too large or damaged. */
export const readPart = async (file: string, handle: FileHandle, part: FilePart): Promise<unknown> => {
  const [start, end] = part;
  const bytes = end - start;
  if (bytes > partBytesMax)
    throw damagedPart(file, part, `one entry has ${bytes} bytes; the limit is ${partBytesMax}`);
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes), 0, bytes, start);
  if (bytesRead < bytes) throw changedFile(file);
  try {
    return JSON.parse(buffer.toString('utf8')) as unknown;
  } catch (cause) {
    throw damagedPart(file, part, (cause as Error).message, cause);
  }
};

/** Reads parts one by one. `version`: of the file when it was scanned. Throws `conflict` when the file was changed since then. */
export const readParts = async (
  { path, version, parts }: { path: string; version: string; parts: readonly FilePart[] },
  onValue: (value: unknown) => Promise<void> | void,
): Promise<void> => {
  if (parts.length === 0) return;
  await using handle = await open(path, 'r');
  for (const part of parts) await onValue(await readPart(path, handle, part));
  if ((await versionOf(handle)) !== version) throw changedFile(path);
};

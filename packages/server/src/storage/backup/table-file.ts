// The file of one table: written with a checksum, and verified when it is used.
import { createHash } from 'node:crypto';
import { Transform, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { BackupError, type BackupSource, type BackupTarget } from './places.ts';
import type { BackupTable } from './manifest.ts';

/** The fastest level: rows arrive faster than higher levels can compress. */
const level = 1;

export type WrittenFile = Pick<BackupTable, 'file' | 'bytes' | 'sha256'>;

interface TableRows {
  table: string;
  rows: Readable;
  /** An estimate. */
  bytesExpected: number;
}

/** Writes the compressed rows. Returns or throws when the target is not writing any more. */
export const writeTableFile = async (
  target: BackupTarget,
  { table, rows, bytesExpected }: TableRows,
  signal: AbortSignal,
): Promise<WrittenFile> => {
  const file = `${table}.copy.gz`;
  const meter = new Meter();
  const [read, written] = await Promise.allSettled([
    pipeline(rows, createGzip({ level }), meter, { signal }),
    target.write(file, meter, bytesExpected).catch((error: unknown) => {
      meter.destroy(error as Error);
      throw error;
    }),
  ]);
  // The stream has the first error, of reading the rows or of writing.
  if (read.status === 'rejected') throw read.reason;
  if (written.status === 'rejected') throw written.reason;
  return { file, ...meter.result() };
};

/** Throws a BackupError when the file is missing, or has another size than the file that was written. */
export const checkTableFileSize = async (
  source: BackupSource,
  { file, bytes }: WrittenFile,
): Promise<void> => {
  const size = await orIncomplete(source, file, () => source.sizeOf(file));
  if (size !== bytes) throw damaged(source, file);
};

/** Throws a BackupError when the file is missing, or differs in size or checksum from the file that was written. */
export const verifyTableFile = async (source: BackupSource, written: WrittenFile): Promise<void> => {
  const meter = new Meter();
  await orIncomplete(source, written.file, async () => {
    for await (const chunk of source.read(written.file)) meter.count(chunk);
  });
  if (!isSame(meter.result(), written)) throw damaged(source, written.file);
};

/**
 * Writes the rows to `target`. Throws as `verifyTableFile` when the file has changed, and the reason of the signal after an abort; `target`
 * may have got rows then.
 */
export const readTableFile = async (
  source: BackupSource,
  written: WrittenFile,
  { target, signal }: { target: Writable; signal: AbortSignal },
): Promise<void> => {
  const meter = new Meter();
  try {
    await pipeline(source.read(written.file), meter, createGunzip(), target, { signal });
  } catch (error) {
    signal.throwIfAborted();
    // A damaged file makes the decompression or PostgreSQL fail before its checksum is known.
    if (!(error instanceof BackupError)) await verifyTableFile(source, written);
    throw error;
  }
  if (!isSame(meter.result(), written)) throw damaged(source, written.file);
};

/** Counts and hashes the bytes that pass. */
class Meter extends Transform {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor() {
    super();
    this.on('error', () => undefined); // the pipelines reject with it
  }

  count(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    this.count(chunk);
    done(null, chunk);
  }

  /** To be called once, at the end. */
  result(): Pick<WrittenFile, 'bytes' | 'sha256'> {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}

const isSame = (found: Pick<WrittenFile, 'bytes' | 'sha256'>, { bytes, sha256 }: WrittenFile): boolean =>
  found.bytes === bytes && found.sha256 === sha256;

const damaged = ({ place }: BackupSource, file: string): BackupError =>
  new BackupError(`${place}/${file} is damaged: its size or checksum differs. Use another backup`);

const orIncomplete = async <T>({ place }: BackupSource, file: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`The backup is incomplete: ${place}/${file} cannot be read`, { cause });
  }
};

// The file of one table: written with a checksum, and verified before it is used.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { BackupError } from './backup-error.ts';
import type { BackupTable } from './manifest.ts';

/** The fastest level: rows arrive faster than higher levels can compress. */
const level = 1;

export type WrittenFile = Pick<BackupTable, 'file' | 'bytes' | 'sha256'>;

/** Writes the compressed rows, and flushes them to the disk. */
export const writeTableFile = async (folder: string, table: string, rows: Readable): Promise<WrittenFile> => {
  const file = `${table}.copy.gz`;
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const target = createWriteStream(join(folder, file), { mode: 0o600, flags: 'wx', flush: true });
  await pipeline(rows, createGzip({ level }), meter, target);
  return { file, bytes, sha256: hash.digest('hex') };
};

/** Throws a BackupError when the file is missing, or differs in size or checksum from the file that was written. */
export const verifyTableFile = async (
  folder: string,
  { file, bytes, sha256 }: WrittenFile,
): Promise<void> => {
  const path = join(folder, file);
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
  } catch (cause) {
    throw new BackupError(`The backup is incomplete: ${path} cannot be read`, { cause });
  }
  if (size !== bytes || hash.digest('hex') !== sha256)
    throw new BackupError(`${path} is damaged: its size or checksum differs. Use another backup`);
};

export const readTableFile = (folder: string, { file }: WrittenFile, target: Writable): Promise<void> =>
  pipeline(createReadStream(join(folder, file)), createGunzip(), target);

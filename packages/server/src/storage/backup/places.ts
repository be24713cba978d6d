// Places of backups: a folder, or a prefix of a bucket.
import type { Readable } from 'node:stream';

/** A backup that cannot be written or restored. The message is for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Methods throw when the place cannot be used. They are called in the order open, write…, and finish or discard. */
export interface BackupTarget {
  /** The path of the folder or the URL of the prefix. */
  readonly place: string;
  /** Throws a BackupError when the place already contains something. */
  open(): Promise<void>;
  /** Stores a file under a name that was not written before. `bytesExpected` is an estimate. */
  write(file: string, content: Readable, bytesExpected: number): Promise<void>;
  /** Stores the manifest, which makes the backup complete. */
  finish(manifest: string): Promise<void>;
  /** Removes what was written, after a failure. Throws when something remains. */
  discard(): Promise<void>;
}

export interface BackupSource {
  /** The path of the folder or the URL of the prefix. `place/file` is the path or URL of a file. */
  readonly place: string;
  /** True when reading is expensive. A restore then reads each file once, and compares its checksum while it loads the rows. */
  readonly isRemote: boolean;
  /** Size of a file in bytes. Throws as `read` does. */
  sizeOf(file: string): Promise<number>;
  /** Throws a BackupError when the place cannot be reached or used, and another error when the file cannot be read. */
  read(file: string): AsyncIterable<Buffer>;
}

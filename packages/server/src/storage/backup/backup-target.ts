// A place to which a backup is written: a folder, or a prefix of a bucket.
import type { Readable } from 'node:stream';

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

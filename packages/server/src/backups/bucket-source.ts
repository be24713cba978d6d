// Reads a backup from a bucket.
import type { Bucket } from '../s3/bucket.ts';
import { DestinationError } from '../s3/destination-error.ts';
import { BackupError } from '../storage/backup/backup-error.ts';
import type { BackupSource } from '../storage/backup/backup-source.ts';

export class BucketSource implements BackupSource {
  readonly place: string;
  readonly isRemote = true;
  readonly #bucket: Bucket;
  readonly #signal: AbortSignal;

  constructor(place: string, bucket: Bucket, signal: AbortSignal) {
    this.place = place;
    this.#bucket = bucket;
    this.#signal = signal;
  }

  async sizeOf(file: string): Promise<number> {
    const found = await this.#bucket.head(file, this.#signal).catch((error: unknown) => {
      throw this.#explain(error);
    });
    if (found === undefined) throw new Error('The object does not exist');
    return found.bytes;
  }

  async *read(file: string): AsyncGenerator<Buffer> {
    try {
      yield* this.#bucket.read(file, this.#signal);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Only a missing object is a fault of the backup. */
  #explain(error: unknown): unknown {
    return error instanceof DestinationError && error.code !== 'NoSuchKey'
      ? new BackupError(`${this.place} cannot be read`, { cause: error })
      : error;
  }
}

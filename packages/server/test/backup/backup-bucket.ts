// Backups of a database in a bucket of the S3 of a test run.
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { BucketSource, BucketTarget } from '../../src/backups/bucket-place.ts';
import { openBucket } from '../../src/backups/open-bucket.ts';
import type { Bucket } from '../../src/s3/bucket.ts';
import { usualS3Limits } from '../../src/s3/s3-limits.ts';
import { writeBackup } from '../../src/storage/backup/backup.ts';
import type { Manifest } from '../../src/storage/backup/manifest.ts';
import { restoreBackup, verifyBackup, type CheckDepth } from '../../src/storage/backup/restore.ts';
import type { TestDatabase } from '../database.ts';
import type { Keys } from '../s3/ceph.ts';
import type { Gateway } from '../s3/gateway.ts';
import { run } from './filled-database.ts';

const never = new AbortController().signal;
export const prefix = 'backups/monday';

export interface Access {
  /** Name of the bucket. */
  bucket?: string;
  keys?: Keys;
  endpoint?: string;
}

/** The bucket with a backup below `prefix`. */
export class BackupBucket implements AsyncDisposable {
  readonly #gateway: Gateway;
  readonly #bucket: string;
  readonly #endpoint: string;
  readonly #outageMs: number;
  readonly #opened: Bucket[] = [];

  /** `endpoint`: of the gateway, or of a fault server before it. */
  constructor(gateway: Gateway, bucket: string, { endpoint = gateway.endpoint, outageMs = 0 } = {}) {
    this.#gateway = gateway;
    this.#bucket = bucket;
    this.#endpoint = endpoint;
    this.#outageMs = outageMs;
  }

  get url(): string {
    return `s3://${this.#bucket}/${prefix}`;
  }

  backUp(database: TestDatabase, { signal = never, ...access }: Access & { signal?: AbortSignal } = {}) {
    const target = new BucketTarget(this.url, this.#open(access), signal);
    return writeBackup(database.options, { target, program: '0.1.0', signal });
  }

  verify(depth: CheckDepth = 'checksums', access: Access = {}): Promise<Manifest> {
    return verifyBackup(new BucketSource(this.url, this.#open(access), never), depth);
  }

  async restore(database: TestDatabase): Promise<void> {
    const source = new BucketSource(this.url, this.#open({}), never);
    const manifest = await verifyBackup(source, 'sizes');
    await restoreBackup({ database, options: database.options }, source, manifest);
  }

  async keys(): Promise<string[]> {
    return (await this.#gateway.objects(this.#bucket)).map(({ key }) => key);
  }

  /** Objects and unfinished uploads. */
  async contents(): Promise<string[]> {
    const uploads = await this.#gateway.uploads(this.#bucket);
    return [...(await this.keys()), ...uploads.map(({ key }) => key)];
  }

  async read(file: string): Promise<Buffer> {
    return Buffer.from(await this.#gateway.read(this.#bucket, `${prefix}/${file}`));
  }

  async put(file: string, content: Buffer): Promise<void> {
    const command = { Bucket: this.#bucket, Key: `${prefix}/${file}`, Body: content };
    await this.#gateway.client().send(new PutObjectCommand(command));
  }

  async delete(file: string): Promise<void> {
    const command = { Bucket: this.#bucket, Key: `${prefix}/${file}` };
    await this.#gateway.client().send(new DeleteObjectCommand(command));
  }

  #open({ bucket = this.#bucket, keys = this.#gateway.keys, endpoint = this.#endpoint }: Access): Bucket {
    const place = { kind: 'bucket', bucket, prefix } as const;
    const limits = { ...usualS3Limits, tries: 3, idleMs: 5_000, outageMs: this.#outageMs };
    const opened = openBucket(place, { endpoint, region: undefined, credentials: keys }, limits);
    this.#opened.push(opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#opened) await one[Symbol.asyncDispose]();
  }
}

/** Adds about 20 MB that gzip cannot compress, so that the table is uploaded in parts. */
export const addLargeTable = async (database: TestDatabase): Promise<void> => {
  await run(
    database,
    `insert into trace_attachments (tenant_id, day, run_id, name, content_type, content)
     select gen_random_uuid(), '2026-01-03', gen_random_uuid(), 'noise', 'image/png',
       (select string_agg(sha512(convert_to(n::text || m::text || random()::text, 'UTF8')), '') from generate_series(1, 3200) m)
     from generate_series(1, 100) n`,
  );
};
export const largeFile = 'trace_attachments_20260103.copy.gz';

/** The messages of the error with which the work fails, and of its causes. */
export const failure = async (work: Promise<unknown>): Promise<string> => {
  const thrown = await work.then(
    () => new Error('it has not failed'),
    (error: unknown) => error,
  );
  const messages: string[] = [];
  for (let error = thrown; error instanceof Error; error = error.cause) messages.push(error.message);
  return messages.join('\n');
};

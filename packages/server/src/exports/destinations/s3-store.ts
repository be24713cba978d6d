// Stores files in a bucket of any S3 compatible service.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Bucket } from '../../s3/bucket.ts';
import { bucketAddress, type BucketAddress } from '../../s3/bucket-address.ts';
import { withDeadline } from '../../s3/deadline.ts';
import { DestinationError, StoreConflict } from '../../s3/destination-error.ts';
import { egressRules } from '../../s3/s3-limits.ts';
import { uploadOptions } from '../../s3/put-command.ts';
import { createS3Client } from '../../s3/s3-client.ts';
import { toDestinationError } from '../../s3/s3-error.ts';
import { partBytesOf } from '../../s3/s3-uploads.ts';
import { type CredentialRules, credentialsOf } from './destination-credentials.ts';
import {
  type LocalFile,
  partsOfKey,
  type ProbedStore,
  type PutOptions,
  type StoredFile,
} from './file-store.ts';
import type { S3Target } from './store-target.ts';

/** Files up to this size are uploaded in one request. */
const singleBytesMax = 16 * 1_024 ** 2;
const parquet = 'application/vnd.apache.parquet';

export class S3Store implements ProbedStore {
  readonly root: string;
  readonly assumeRole: ProbedStore['assumeRole'];
  readonly #address: BucketAddress;
  readonly #bucket: Bucket;
  readonly #rules: CredentialRules;
  /** True when the service supports If-None-Match for PutObject. */
  readonly #supportsIfNoneMatch: boolean;

  /** Throws a DestinationError when the destination has no credentials and may not use the server's. */
  constructor(target: S3Target, rules: CredentialRules) {
    // Removed from the messages of the service.
    const secrets = Object.values<string | undefined>(target.credentials ?? {}).filter(
      (one) => one !== undefined,
    );
    const address = bucketAddress(target.config);
    const { guard, limits } = rules;
    const client = createS3Client({
      address,
      credentials: credentialsOf(target, address, rules),
      guard,
      limits,
      options: target.config.config_kwargs_s3,
    });
    this.#address = address;
    this.#rules = rules;
    this.#bucket = new Bucket({
      client,
      address,
      options: uploadOptions(target.config, address),
      callMs: limits.callMs,
      toError: (error) => toDestinationError(error, secrets),
    });
    this.#supportsIfNoneMatch = target.abilities.can_put_if_none_match ?? false;
    this.root = address.root;
    const assume = (signal: AbortSignal): Promise<void> =>
      this.#bucket.call(signal, async () => void (await client.config.credentials()));
    this.assumeRole = target.aws_role_arn === null ? undefined : assume;
  }

  async findAddress(signal: AbortSignal): Promise<void> {
    const { endpoint, region } = this.#address;
    const text = endpoint?.href ?? `https://s3.${region}.amazonaws.com/`;
    const { guard, limits } = this.#rules;
    await this.#bucket.call(signal, async () => {
      const { url, lookup } = guard.check(text, egressRules);
      await withDeadline(signal, limits.connectMs, () => lookUp(lookup, url.hostname));
    });
  }

  async put(key: string, file: LocalFile, { ifAbsent, signal }: PutOptions): Promise<void> {
    const name = keyOf(key);
    const conditional = ifAbsent && this.#supportsIfNoneMatch;
    const assertAbsent = (): Promise<void> => this.#assertAbsent(key, signal);
    await using source = await open(file.path);
    if (file.bytes <= singleBytesMax) {
      const body = await readSlice(source, 0, file.bytes);
      if (ifAbsent && !conditional) await assertAbsent();
      const metadata = { sha256: file.sha256 };
      const upload = { body, metadata, contentType: parquet, ifAbsent: conditional };
      return void (await this.#bucket.put(name, upload, signal));
    }
    const { bytes, sha256 } = file;
    const partBytes = partBytesOf(bytes);
    const parts = filePartsOf(source, { bytes, partBytes });
    const upload = { parts, partBytes, contentType: parquet, metadata: { sha256 }, ifAbsent: conditional };
    // Some services support If-None-Match for single uploads, but ignore it for multipart uploads.
    const beforeEnd = ifAbsent ? { beforeEnd: assertAbsent } : {};
    const isCompleted = await this.#bucket.upload(name, { ...upload, ...beforeEnd }, signal);
    // The response to an earlier completion may have been lost: the object shows whether the upload was completed.
    if (!isCompleted) await this.#assertStored(key, file, signal);
  }

  async putText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void> {
    await this.#putText(key, text, { contentType, ifAbsent: false, signal });
  }

  async createText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void> {
    await this.#putText(key, text, { contentType, ifAbsent: true, signal });
  }

  async head(key: string, signal: AbortSignal): Promise<StoredFile | 'unknown' | undefined> {
    try {
      const found = await this.#bucket.head(keyOf(key), signal);
      return found && { bytes: found.bytes, sha256: found.metadata['sha256'] };
    } catch (error) {
      if (isReadDenied(error)) return 'unknown';
      throw error;
    }
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    await this.#bucket.remove(keyOf(key), signal);
  }

  async removeUnfinished(key: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#bucket.removeUnfinished(keyOf(key), signal);
    } catch (error) {
      // Without permission or support for listing and aborting, a lifecycle rule of the bucket must remove the upload.
      if (!isReadDenied(error)) throw error;
    }
  }

  async #putText(
    key: string,
    text: string,
    { contentType, ifAbsent, signal }: { contentType: string; ifAbsent: boolean; signal: AbortSignal },
  ): Promise<void> {
    const body = Buffer.from(text);
    const sha256 = createHash('sha256').update(body).digest('hex');
    await this.#bucket.put(keyOf(key), { body, metadata: { sha256 }, contentType, ifAbsent }, signal);
  }

  async #assertStored(key: string, file: LocalFile, signal: AbortSignal): Promise<void> {
    const found = await this.head(key, signal);
    if (typeof found === 'object' && found.bytes === file.bytes && found.sha256 === file.sha256) return;
    throw new DestinationError('The upload was aborted by another client.', {
      code: 'NoSuchUpload',
      isFinal: false,
    });
  }

  async #assertAbsent(key: string, signal: AbortSignal): Promise<void> {
    if (typeof (await this.head(key, signal)) === 'object')
      throw new StoreConflict('The key already has an object');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bucket[Symbol.asyncDispose]();
  }
}

/** Throws for a key that could lead out of the prefix. */
const keyOf = (key: string): string => partsOfKey(key).join('/');

/** True when the service does not permit or support the read. */
const isReadDenied = (error: unknown): boolean =>
  error instanceof DestinationError && [401, 403, 405, 501].includes(error.status ?? 0);

const lookUp = (lookup: LookupFunction, hostname: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The guard has already checked a literal IP address.
    if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return resolve();
    lookup(hostname, { all: true }, (error) => (error ? reject(error) : resolve()));
  });

/** Reads a local file in the parts of a multipart upload. */
async function* filePartsOf(
  source: FileHandle,
  { bytes, partBytes }: { bytes: number; partBytes: number },
): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes; start += partBytes)
    yield await readSlice(source, start, Math.min(partBytes, bytes - start));
}

/** Reads exactly `bytes` bytes; throws when the file is shorter. */
const readSlice = async (source: FileHandle, start: number, bytes: number): Promise<Buffer> => {
  const slice = Buffer.allocUnsafe(bytes);
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await source.read(slice, filled, bytes - filled, start + filled);
    if (bytesRead === 0) throw new Error(`The local file ends at byte ${start + filled}`);
    filled += bytesRead;
  }
  return slice;
};

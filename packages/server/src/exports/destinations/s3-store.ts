// Stores files in a bucket of any S3 compatible service.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { LocalFile, ProbedStore, PutOptions, StoredFile } from './file-store.ts';
import { DestinationError, StoreConflict } from './destination-error.ts';
import { withDeadline } from './deadline.ts';
import { egressRules } from './egress-rules.ts';
import { createS3Client, type S3ClientOptions } from './s3-client.ts';
import { md5 } from './md5.ts';
import { isConflict, toDestinationError } from './s3-error.ts';
import { uploadOptions, type UploadOptions } from './s3-options.ts';
import { bucketAddress, type BucketAddress } from './bucket-address.ts';
import { readSlice, S3Uploads } from './s3-uploads.ts';
import { partsOfKey } from './store-key.ts';
import type { S3Target } from './store-target.ts';

/** Files up to this size are uploaded in one request. */
const singleBytesMax = 16 * 1_024 ** 2;
const parquet = 'application/vnd.apache.parquet';

/** An object that is uploaded in one request. */
interface SingleUpload {
  body: Buffer;
  sha256: string;
  contentType: string;
  ifAbsent: boolean;
}

export class S3Store implements ProbedStore {
  readonly root: string;
  readonly assumeRole: ProbedStore['assumeRole'];
  readonly #client: S3Client;
  readonly #address: BucketAddress;
  readonly #options: UploadOptions;
  readonly #bucket: string;
  readonly #uploads: S3Uploads;
  readonly #clientOptions: S3ClientOptions;
  /** Removed from the messages of the service. */
  readonly #secrets: readonly string[];
  /** True when the service supports If-None-Match for PutObject. */
  readonly #supportsIfNoneMatch: boolean;

  /** Throws a DestinationError when the destination has no credentials and may not use the server's. */
  constructor(target: S3Target, clientOptions: S3ClientOptions) {
    this.#secrets = Object.values<string | undefined>(target.credentials ?? {}).filter(
      (one) => one !== undefined,
    );
    this.#address = bucketAddress(target.config);
    this.#options = uploadOptions(target.config, this.#address);
    this.#clientOptions = clientOptions;
    this.#client = createS3Client(target, this.#address, clientOptions);
    // With `bucketEndpoint` the client expects the URL of the endpoint as the name of the bucket.
    const { endpoint, bucket, isBucketEndpoint } = this.#address;
    this.#bucket = isBucketEndpoint && endpoint ? endpoint.href.replace(/\/$/, '') : bucket;
    this.#supportsIfNoneMatch = target.abilities.can_put_if_none_match ?? false;
    this.root = this.#address.root;
    const assume = (signal: AbortSignal): Promise<void> =>
      this.#call(signal, async () => void (await this.#client.config.credentials()));
    this.assumeRole = target.aws_role_arn === null ? undefined : assume;
    this.#uploads = new S3Uploads({
      client: this.#client,
      bucket: this.#bucket,
      options: this.#options,
      callMs: clientOptions.limits.callMs,
      secrets: this.#secrets,
    });
  }

  async findAddress(signal: AbortSignal): Promise<void> {
    const { endpoint, region } = this.#address;
    const text = endpoint?.href ?? `https://s3.${region}.amazonaws.com/`;
    const { guard, limits } = this.#clientOptions;
    await this.#call(signal, async () => {
      const { url, lookup } = guard.check(text, egressRules);
      await withDeadline(signal, limits.connectMs, () => lookUp(lookup, url.hostname));
    });
  }

  async put(key: string, file: LocalFile, { ifAbsent, signal }: PutOptions): Promise<void> {
    const name = this.#nameOf(key);
    const conditional = ifAbsent && this.#supportsIfNoneMatch;
    const assertAbsent = (): Promise<void> => this.#assertAbsent(key, signal);
    await using source = await open(file.path);
    if (file.bytes <= singleBytesMax) {
      const body = await readSlice(source, 0, file.bytes);
      if (ifAbsent && !conditional) await assertAbsent();
      const single = { body, sha256: file.sha256, contentType: parquet, ifAbsent: conditional };
      return await this.#putBytes(name, single, signal);
    }
    const { bytes, sha256 } = file;
    const upload = { name, source, contentType: parquet, bytes, sha256, ifAbsent: conditional };
    // Some services support If-None-Match for single uploads, but ignore it for multipart uploads.
    const isCompleted = await this.#uploads.send(
      { ...upload, ...(ifAbsent ? { beforeEnd: assertAbsent } : {}) },
      signal,
    );
    // The response to an earlier completion may have been lost: the object shows whether the upload was completed.
    if (!isCompleted) await this.#assertStored(key, file, signal);
  }

  async putText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void> {
    await this.#putBytes(this.#nameOf(key), { ...bytesOf(text), contentType, ifAbsent: false }, signal);
  }

  async createText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void> {
    await this.#putBytes(this.#nameOf(key), { ...bytesOf(text), contentType, ifAbsent: true }, signal);
  }

  async head(key: string, signal: AbortSignal): Promise<StoredFile | 'unknown' | undefined> {
    const command = new HeadObjectCommand({
      Bucket: this.#bucket,
      Key: this.#nameOf(key),
      ...this.#options.every,
    });
    try {
      return await withDeadline(signal, this.#clientOptions.limits.callMs, async (abortSignal) => {
        const found = await this.#client.send(command, { abortSignal });
        return { bytes: found.ContentLength ?? 0, sha256: found.Metadata?.['sha256'] };
      });
    } catch (error) {
      signal.throwIfAborted();
      if (statusOf(error) === 404) return undefined;
      if (isReadDenied(error)) return 'unknown';
      throw toDestinationError(error, this.#secrets);
    }
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const command = new DeleteObjectCommand({
      Bucket: this.#bucket,
      Key: this.#nameOf(key),
      ...this.#options.every,
    });
    await this.#call(signal, async (abortSignal) => void (await this.#client.send(command, { abortSignal })));
  }

  async removeUnfinished(key: string, signal: AbortSignal): Promise<void> {
    const name = this.#nameOf(key);
    await this.#call(signal, async (abortSignal) => {
      try {
        await this.#uploads.abortAll(name, abortSignal);
      } catch (error) {
        // Without permission or support for listing and aborting, a lifecycle rule of the bucket must remove the upload.
        if (!isReadDenied(error)) throw error;
      }
    });
  }

  async #putBytes(
    name: string,
    { body, sha256, contentType, ifAbsent }: SingleUpload,
    signal: AbortSignal,
  ): Promise<void> {
    const { start, every, metadata, checksum } = this.#options;
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: name,
      Body: body,
      ContentLength: body.length,
      ContentType: contentType,
      ...start,
      ...every,
      Metadata: { ...metadata, sha256 },
      ...(checksum ? { ChecksumAlgorithm: checksum } : { ContentMD5: md5(body) }),
      ...(ifAbsent ? { IfNoneMatch: '*' } : {}),
    });
    await this.#call(signal, async (abortSignal) => void (await this.#client.send(command, { abortSignal })));
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

  #nameOf(key: string): string {
    return this.#address.prefix + partsOfKey(key).join('/');
  }

  async #call<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withDeadline(signal, this.#clientOptions.limits.callMs, work);
    } catch (error) {
      signal.throwIfAborted();
      throw isConflict(error)
        ? new StoreConflict('The key already has an object')
        : toDestinationError(error, this.#secrets);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
  }
}

/** A response to HEAD has no body, so errors are identified by the status. */
const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

/** True when the service does not permit or support the read. */
const isReadDenied = (error: unknown): boolean => [401, 403, 405, 501].includes(statusOf(error) ?? 0);

const bytesOf = (text: string): Pick<SingleUpload, 'body' | 'sha256'> => {
  const body = Buffer.from(text);
  return { body, sha256: createHash('sha256').update(body).digest('hex') };
};

const lookUp = (lookup: LookupFunction, hostname: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The guard has already checked a literal IP address.
    if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return resolve();
    lookup(hostname, { all: true }, (error) => (error ? reject(error) : resolve()));
  });

// The S3 of a test run, with its administration: buckets, users and permissions.
import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  ListMultipartUploadsCommand,
  PutBucketPolicyCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { describe, inject } from 'vitest';
import { whyNoS3 } from './availability.ts';
import { asArgs, newKeys, type CephAccess, type Keys } from './ceph.ts';
import { runCeph } from './ceph-programs.ts';
import { requestGateway } from './gateway-server.ts';

export interface S3User {
  readonly name: string;
  readonly keys: Keys;
}

export interface StoredObject {
  readonly key: string;
  readonly size: number;
  /** Without its quotes. */
  readonly etag: string;
}

export interface OpenUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** The actions of exports and their readers that a policy can allow. `s3:PutObject` includes multipart uploads. */
const known = [
  's3:PutObject',
  's3:GetObject',
  's3:DeleteObject',
  's3:AbortMultipartUpload',
  's3:ListMultipartUploadParts',
  's3:ListBucket',
  's3:ListBucketMultipartUploads',
] as const;
export type S3Action = (typeof known)[number];

/** For tests that need an S3. Where they are not run, the reporter of the test run counts them. */
export const describeS3 = describe.skipIf(whyNoS3() !== undefined);

/** Starts the gateway for the first test; later tests share it. Disposing removes the buckets and users created through it. */
export const openGateway = async (): Promise<Gateway> =>
  new Gateway(await requestGateway(inject('gatewayUrl')));

export class Gateway implements AsyncDisposable {
  readonly endpoint: string;
  readonly region = 'us-east-1';
  /** The keys of the owner of all buckets. */
  readonly keys: Keys;
  readonly #folder: string;
  readonly #owner: S3Client;
  readonly #clients: S3Client[] = [];
  readonly #buckets = new Set<string>();
  readonly #users = new Set<string>();

  constructor({ endpoint, keys, folder }: CephAccess) {
    this.endpoint = endpoint;
    this.keys = keys;
    this.#folder = folder;
    this.#owner = this.client();
  }

  /** A stock client without retries. */
  client(keys = this.keys, endpoint = this.endpoint): S3Client {
    const client = new S3Client({
      endpoint,
      region: this.region,
      credentials: keys,
      forcePathStyle: true,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED', // this gateway rejects the checksums that the client adds to streams
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    this.#clients.push(client);
    return client;
  }

  /** Creates a bucket and returns its name. */
  async createBucket(): Promise<string> {
    const bucket = `svc-${randomUUID()}`;
    await this.#owner.send(new CreateBucketCommand({ Bucket: bucket }));
    this.#buckets.add(bucket);
    return bucket;
  }

  /** Deletes a bucket and its contents. */
  async deleteBucket(bucket: string): Promise<void> {
    for (const { key, uploadId } of await this.uploads(bucket))
      await this.#owner.send(
        new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId }),
      );
    for (const { key } of await this.objects(bucket))
      await this.#owner.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    await this.#owner.send(new DeleteBucketCommand({ Bucket: bucket }));
    this.#buckets.delete(bucket);
  }

  /** Sorted by key. */
  async objects(bucket: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    for await (const page of paginateListObjectsV2({ client: this.#owner }, { Bucket: bucket }))
      for (const { Key, Size, ETag } of page.Contents ?? [])
        found.push({ key: Key ?? '', size: Size ?? 0, etag: (ETag ?? '').replaceAll('"', '') });
    return found;
  }

  /** Multipart uploads that were neither completed nor aborted. */
  async uploads(bucket: string): Promise<OpenUpload[]> {
    const { Uploads, IsTruncated } = await this.#owner.send(
      new ListMultipartUploadsCommand({ Bucket: bucket }),
    );
    if (IsTruncated) throw new Error(`${bucket} holds more than a page of uploads`);
    return (Uploads ?? []).map(({ Key, UploadId }) => ({ key: Key ?? '', uploadId: UploadId ?? '' }));
  }

  async read(bucket: string, key: string): Promise<Uint8Array> {
    const { Body } = await this.#owner.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!Body) throw new Error(`${key} came without a body`);
    return Body.transformToByteArray();
  }

  /** Creates a user without permissions. */
  async createUser(): Promise<S3User> {
    const user = { name: `user-${randomUUID()}`, keys: newKeys() };
    const { name, keys } = user;
    await this.#admin('user', 'create', `--uid=${name}`, `--display-name=${name}`, ...asArgs(keys));
    this.#users.add(name);
    return user;
  }

  /**
   * Allows exactly these actions in a bucket, for keys with this prefix, and replaces earlier permissions. All other actions are denied
   * explicitly, because a user may otherwise read objects that it has put.
   */
  async allowOnly(
    user: S3User,
    bucket: string,
    actions: readonly S3Action[],
    { prefix = '' }: { prefix?: string } = {},
  ): Promise<void> {
    const Principal = { AWS: [`arn:aws:iam:::user/${user.name}`] };
    const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/${prefix}*`];
    const Statement = [
      { Effect: 'Allow', Principal, Resource, Action: actions },
      { Effect: 'Deny', Principal, Resource, Action: known.filter((action) => !actions.includes(action)) },
    ];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await this.#owner.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  }

  /** Rejects all keys of the user until enableUser(). */
  async suspendUser({ name }: S3User): Promise<void> {
    await this.#admin('user', 'suspend', `--uid=${name}`);
  }

  async enableUser({ name }: S3User): Promise<void> {
    await this.#admin('user', 'enable', `--uid=${name}`);
  }

  /** Deletes these keys. */
  async revokeKeys({ name, keys }: S3User): Promise<void> {
    await this.#admin('key', 'rm', `--uid=${name}`, '--key-type=s3', `--access-key=${keys.accessKeyId}`);
  }

  /** Creates further keys and returns the user with them; earlier keys stay valid. */
  async addKeys({ name }: S3User): Promise<S3User> {
    const keys = newKeys();
    await this.#admin('key', 'create', `--uid=${name}`, '--key-type=s3', ...asArgs(keys));
    return { name, keys };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const bucket of this.#buckets) await this.deleteBucket(bucket);
    for (const name of this.#users) await this.#admin('user', 'rm', `--uid=${name}`, '--purge-data');
    for (const client of this.#clients) client.destroy();
  }

  async #admin(...args: string[]): Promise<void> {
    await runCeph(this.#folder, 'radosgw-admin', args);
  }
}

// The S3 of a test run, and what an administrator can do there: buckets, users, what they may, and the end of it.
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
import { knock } from './gateway-door.ts';

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

/** What a policy can allow of what an export or its reader does. `s3:PutObject` includes uploads in parts. */
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

/** Starts it for the first test that asks; later ones share it. What was made through it goes when it is disposed. */
export const openGateway = async (): Promise<Gateway> => new Gateway(await knock(inject('gatewayDoor')));

export class Gateway implements AsyncDisposable {
  readonly endpoint: string;
  readonly region = 'us-east-1';
  /** Of the owner of all buckets. */
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

  /** A stock client that tries everything once. */
  client(keys = this.keys, endpoint = this.endpoint): S3Client {
    const client = new S3Client({
      endpoint,
      region: this.region,
      credentials: keys,
      forcePathStyle: true,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED', // what else it does for streams, this gateway refuses
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    this.#clients.push(client);
    return client;
  }

  /** Its name. */
  async createBucket(): Promise<string> {
    const bucket = `svc-${randomUUID()}`;
    await this.#owner.send(new CreateBucketCommand({ Bucket: bucket }));
    this.#buckets.add(bucket);
    return bucket;
  }

  /** With all that is in it. */
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

  /** Somebody who may nothing yet. */
  async createUser(): Promise<S3User> {
    const user = { name: `user-${randomUUID()}`, keys: newKeys() };
    const { name, keys } = user;
    await this.#admin('user', 'create', `--uid=${name}`, `--display-name=${name}`, ...asArgs(keys));
    this.#users.add(name);
    return user;
  }

  /**
   * These actions and no others in a bucket, for keys that begin like this. Replaces what was allowed
   * there before. The others are denied, since whoever has put an object may otherwise read it.
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

  /** All keys of the user are refused until enableUser(). */
  async suspendUser({ name }: S3User): Promise<void> {
    await this.#admin('user', 'suspend', `--uid=${name}`);
  }

  async enableUser({ name }: S3User): Promise<void> {
    await this.#admin('user', 'enable', `--uid=${name}`);
  }

  /** These keys are gone, for good. */
  async revokeKeys({ name, keys }: S3User): Promise<void> {
    await this.#admin('key', 'rm', `--uid=${name}`, '--key-type=s3', `--access-key=${keys.accessKeyId}`);
  }

  /** The user with further keys: the earlier ones stay good. */
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

import {
  DeleteBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeS3, openGateway, type Gateway, type S3User } from './gateway.ts';
import { putParts, startUpload } from './multipart.ts';

describeS3('the S3 of a test run', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await openGateway();
    return () => gateway[Symbol.asyncDispose]();
  });
  let bucket: string;
  beforeEach(async () => {
    bucket = await gateway.createBucket();
  });

  const put = (user: Pick<S3User, 'keys'>, key: string): Promise<unknown> =>
    gateway.client(user.keys).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: key }));

  it('stores objects and lists them in order', async () => {
    await put(gateway, 'b/2');
    await put(gateway, 'a/1');
    expect(await gateway.objects(bucket)).toEqual([
      { key: 'a/1', size: 3, etag: expect.stringMatching(/^[0-9a-f]{32}$/) },
      { key: 'b/2', size: 3, etag: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ]);
    expect(Buffer.from(await gateway.read(bucket, 'a/1')).toString()).toBe('a/1');
  });

  it('is shared by all tests', async () => {
    await using second = await openGateway();
    await put(gateway, 'shared');
    expect(await second.objects(bucket)).toHaveLength(1);
  });

  it('rejects a wrong secret', async () => {
    const keys = { ...gateway.keys, secretAccessKey: 'wrong' };
    await expect(put({ keys }, 'key')).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
    expect(await gateway.objects(bucket)).toEqual([]);
  });

  it('rejects unknown keys', async () => {
    const keys = { ...gateway.keys, accessKeyId: 'UNKNOWN' };
    await expect(put({ keys }, 'key')).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  });

  it('lists open uploads, and deletes a bucket that has some', async () => {
    const target = { client: gateway.client(), bucket, key: 'large' };
    const uploadId = await startUpload(target);
    await putParts({ ...target, uploadId }, [Buffer.alloc(10)]);
    expect(await gateway.uploads(bucket)).toEqual([{ key: 'large', uploadId }]);
    expect(await gateway.objects(bucket)).toEqual([]);
    await gateway.deleteBucket(bucket);
    await expect(put(gateway, 'key')).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });

  it('does not replace an object with If-None-Match: *', async () => {
    const command = { Bucket: bucket, Key: 'once', Body: 'x', IfNoneMatch: '*' };
    const client = gateway.client();
    await client.send(new PutObjectCommand(command));
    await expect(client.send(new PutObjectCommand(command))).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
  });
});

describeS3('a user of the S3', () => {
  let gateway: Gateway;
  let bucket: string;
  beforeAll(async () => {
    gateway = await openGateway();
    bucket = await gateway.createBucket();
    return () => gateway[Symbol.asyncDispose]();
  });
  let user: S3User;
  beforeEach(async () => {
    user = await gateway.createUser();
  });

  const put = ({ keys }: S3User, key: string): Promise<unknown> =>
    gateway.client(keys).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: key }));
  const denied = { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } };

  it('has no permissions at first', async () => {
    await expect(put(user, 'key')).rejects.toMatchObject(denied);
  });

  it('with permission to put may put objects and parts, and neither get nor list', async () => {
    await gateway.allowOnly(user, bucket, ['s3:PutObject']);
    const client = gateway.client(user.keys);
    await put(user, 'mine');
    const target = { client, bucket, key: 'parts' };
    await putParts({ ...target, uploadId: await startUpload(target) }, [Buffer.alloc(10)]);
    await expect(client.send(new GetObjectCommand({ Bucket: bucket, Key: 'mine' }))).rejects.toMatchObject(
      denied,
    );
    await expect(client.send(new ListObjectsV2Command({ Bucket: bucket }))).rejects.toMatchObject(denied);
  });

  it('may put only below the given prefix', async () => {
    await gateway.allowOnly(user, bucket, ['s3:PutObject'], { prefix: 'exports/' });
    await put(user, 'exports/key');
    await expect(put(user, 'other/key')).rejects.toMatchObject(denied);
  });

  it('is rejected with revoked keys, and accepted with new keys', async () => {
    await gateway.allowOnly(user, bucket, ['s3:PutObject']);
    const rotated = await gateway.addKeys(user);
    await put(user, 'before');
    await gateway.revokeKeys(user);
    await expect(put(user, 'after')).rejects.toMatchObject({
      name: 'InvalidAccessKeyId',
      $metadata: { httpStatusCode: 403 },
    });
    await put(rotated, 'after');
  });

  it('is rejected while suspended', async () => {
    await gateway.allowOnly(user, bucket, ['s3:PutObject']);
    await gateway.suspendUser(user);
    await expect(put(user, 'key')).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    await gateway.enableUser(user);
    await put(user, 'key');
  });

  it('cannot delete the bucket of the owner', async () => {
    const client = gateway.client(user.keys);
    await expect(client.send(new DeleteBucketCommand({ Bucket: bucket }))).rejects.toMatchObject(denied);
  });
});

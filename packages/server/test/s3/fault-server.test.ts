import {
  AbortMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFaultServer, type FaultServer } from './fault-server.ts';
import { describeS3, openGateway, type Gateway } from './gateway.ts';
import { completeUpload, minPartBytes, putParts, startUpload } from './multipart.ts';

describeS3('a fault server', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await openGateway();
    return () => gateway[Symbol.asyncDispose]();
  });
  let faults: FaultServer;
  let client: S3Client;
  let bucket: string;
  beforeEach(async () => {
    bucket = await gateway.createBucket();
    faults = await openFaultServer(gateway);
    client = gateway.client(gateway.keys, faults.endpoint);
    return () => faults[Symbol.asyncDispose]();
  });

  const put = (Key: string, Body: string | Buffer = Key, abortSignal?: AbortSignal): Promise<unknown> =>
    client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }), abortSignal ? { abortSignal } : {});
  const sizes = async (): Promise<Record<string, number>> =>
    Object.fromEntries((await gateway.objects(bucket)).map(({ key, size }) => [key, size]));
  const large = Buffer.alloc(minPartBytes, 'x');
  const upload = async (key: string, parts: Buffer[] = [large, Buffer.from('end')]): Promise<void> => {
    const target = { client, bucket, key };
    const started = { ...target, uploadId: await startUpload(target) };
    await completeUpload(started, await putParts(started, parts));
  };

  describe('without rules', () => {
    it('forwards everything and records it', async () => {
      await put('folder/a key with ümlauts+', 'twelve bytes');
      await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'folder/a key with ümlauts+' }));
      await client.send(new ListObjectsV2Command({ Bucket: bucket }));
      const common = { bucket, status: 200, fault: undefined };
      expect(faults.requests).toMatchObject([
        { ...common, operation: 'PutObject', key: 'folder/a key with ümlauts+', bytes: 12 },
        { ...common, operation: 'HeadObject', key: 'folder/a key with ümlauts+', bytes: 0 },
        { ...common, operation: 'ListBucket', key: '' },
      ]);
      expect(await sizes()).toEqual({ 'folder/a key with ümlauts+': 12 });
    });

    it('forwards multipart uploads and records the part numbers', async () => {
      await upload('parts');
      expect(await sizes()).toEqual({ parts: minPartBytes + 3 });
      expect(faults.requests.map(({ operation }) => operation)).toEqual([
        'CreateMultipartUpload',
        'UploadPart',
        'UploadPart',
        'CompleteMultipartUpload',
      ]);
      expect(faults.requestsOf('UploadPart')).toMatchObject([
        { partNumber: 1, bytes: minPartBytes, uploadId: expect.any(String) },
        { partNumber: 2, bytes: 3 },
      ]);
    });

    it('forwards errors of the gateway', async () => {
      const stranger = gateway.client({ ...gateway.keys, secretAccessKey: 'wrong' }, faults.endpoint);
      const command = new PutObjectCommand({ Bucket: bucket, Key: 'key', Body: large });
      await expect(stranger.send(command)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
      expect(faults.requests).toMatchObject([{ status: 403 }]);
    });
  });

  describe('answers with errors', () => {
    it.each([
      [503, 'SlowDown'],
      [500, 'InternalError'],
      [403, 'AccessDenied'],
      [403, 'InvalidAccessKeyId'],
      [404, 'NoSuchBucket'],
    ])('with %s %s in a form that clients understand', async (status, code) => {
      const rule = faults.on({ operation: 'PutObject' }).answer(status, code);
      await expect(put('key', large)).rejects.toMatchObject({
        name: code,
        $metadata: { httpStatusCode: status },
      });
      expect(rule.hits).toBe(1);
      expect(faults.requests).toMatchObject([{ status, fault: 'answer', bytes: large.length }]);
      expect(await sizes()).toEqual({});
    });

    it('to a part, which leaves the upload open', async () => {
      faults.on({ operation: 'UploadPart', nth: 2 }).answer(500, 'InternalError');
      await expect(upload('parts')).rejects.toMatchObject({ name: 'InternalError' });
      expect(await gateway.uploads(bucket)).toMatchObject([{ key: 'parts' }]);
    });

    it('to a HEAD, without a body', async () => {
      faults.on({ method: 'HEAD' }).answer(403, 'AccessDenied');
      const head = client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
      await expect(head).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    });

    it('to an abort, which leaves the upload open', async () => {
      const uploadId = await startUpload({ client, bucket, key: 'parts' });
      faults.on({ operation: 'AbortMultipartUpload' }).answer(403, 'AccessDenied');
      const target = { Bucket: bucket, Key: 'parts', UploadId: uploadId };
      await expect(client.send(new AbortMultipartUploadCommand(target))).rejects.toThrow();
      expect(await gateway.uploads(bucket)).toHaveLength(1);
    });

    it('in the body of a response with status 200', async () => {
      faults.on({ operation: 'CompleteMultipartUpload' }).errorBody200();
      await expect(upload('parts')).rejects.toMatchObject({ name: 'InternalError' });
      expect(faults.requestsOf('CompleteMultipartUpload')).toMatchObject([{ status: 200 }]);
      expect(await sizes()).toEqual({});
    });
  });

  describe('has rules', () => {
    const outcome = async (key: string): Promise<string> =>
      put(key).then(
        () => 'stored',
        (error: Error) => error.name,
      );

    it('for the n-th request and a number of requests from there', async () => {
      const rule = faults.on({ operation: 'PutObject', nth: 2, times: 2 }).answer(503, 'SlowDown');
      const outcomes = [await outcome('1'), await outcome('2'), await outcome('3'), await outcome('4')];
      expect(outcomes).toEqual(['stored', 'SlowDown', 'SlowDown', 'stored']);
      expect(rule.hits).toBe(2);
    });

    it('for keys, buckets and methods', async () => {
      faults.on({ key: /\.parquet$/ }).answer(503, 'SlowDown');
      faults.on({ key: 'exact' }).answer(500, 'InternalError');
      faults.on({ bucket: 'another' }).answer(403, 'AccessDenied');
      faults.on({ method: 'DELETE' }).answer(403, 'AccessDenied');
      expect(await outcome('a.parquet')).toBe('SlowDown');
      expect(await outcome('exact')).toBe('InternalError');
      expect(await outcome('exactly')).toBe('stored');
    });

    it('of which the first that applies decides, until they are cleared', async () => {
      faults.on({ times: 1 }).answer(503, 'SlowDown');
      faults.on().answer(500, 'InternalError');
      expect([await outcome('1'), await outcome('2')]).toEqual(['SlowDown', 'InternalError']);
      faults.clear();
      expect(await outcome('3')).toBe('stored');
    });
  });

  describe('resets connections', () => {
    const reset = { code: 'ECONNRESET' };

    it('before the gateway gets the request', async () => {
      const rule = faults.on({ operation: 'PutObject', times: 1 }).reset();
      await expect(put('key')).rejects.toMatchObject(reset);
      expect(rule.hits).toBe(1);
      expect(faults.requests).toMatchObject([{ status: undefined, fault: 'reset' }]);
      expect(await sizes()).toEqual({});
      await put('key');
    });

    it('in the middle of a part', async () => {
      faults.on({ operation: 'UploadPart' }).reset({ afterBytes: 100_000 });
      await expect(upload('parts')).rejects.toThrow();
      const [{ bytes } = { bytes: 0 }] = faults.requestsOf('UploadPart');
      expect(bytes).toBeGreaterThanOrEqual(100_000);
      expect(bytes).toBeLessThan(minPartBytes);
    });

    it('when the gateway has stored the object', async () => {
      const rule = faults.on({ operation: 'PutObject' }).resetAfterCommit();
      await expect(put('key')).rejects.toMatchObject(reset);
      await rule.untilHit();
      expect(await sizes()).toEqual({ key: 3 });
    });

    it('when the gateway has completed the upload', async () => {
      faults.on({ operation: 'CompleteMultipartUpload' }).resetAfterCommit();
      await expect(upload('parts')).rejects.toMatchObject(reset);
      expect(await sizes()).toEqual({ parts: minPartBytes + 3 });
      expect(await gateway.uploads(bucket)).toEqual([]);
    });
  });

  describe('holds', () => {
    it('a request until the test releases it', async () => {
      const hold = faults.on({ operation: 'UploadPart', nth: 2 }).hold();
      const done = upload('parts');
      await hold.untilHit();
      expect(await gateway.uploads(bucket)).toHaveLength(1);
      expect(await sizes()).toEqual({});
      hold.release();
      await done;
      expect(await sizes()).toEqual({ parts: minPartBytes + 3 });
    });

    it('a request until the client disconnects', async () => {
      const hold = faults.on({ operation: 'PutObject' }).hold();
      const giveUp = new AbortController();
      const done = put('key', 'body', giveUp.signal);
      await hold.untilHit();
      giveUp.abort();
      await expect(done).rejects.toMatchObject({ name: 'AbortError' });
      expect(faults.requests).toMatchObject([{ status: undefined }]);
      expect(await sizes()).toEqual({});
    });

    it('a response until the test releases it', async () => {
      const hang = faults.on({ operation: 'PutObject' }).hang();
      const answered = vi.fn();
      const done = put('key').then(answered);
      await hang.untilHit();
      expect(await sizes()).toEqual({ key: 3 });
      expect(answered).not.toHaveBeenCalled();
      hang.release();
      await done;
    });

    it('requests until it is closed', async () => {
      const hold = faults.on().hold();
      const done = expect(put('key')).rejects.toThrow();
      await hold.untilHit();
      await faults[Symbol.asyncDispose]();
      await done;
      faults = await openFaultServer(gateway);
    });
  });

  describe('stores', () => {
    it('fewer bytes of an object than were sent, and reports success', async () => {
      faults.on({ operation: 'PutObject' }).truncate(5);
      await put('key', 'more than five bytes');
      expect(await sizes()).toEqual({ key: 5 });
      expect(Buffer.from(await gateway.read(bucket, 'key')).toString()).toBe('more ');
      expect(faults.requests).toMatchObject([{ status: 200, bytes: 20, fault: 'truncate' }]);
    });

    it('fewer bytes of a part than were sent, in an upload that completes', async () => {
      faults.on({ operation: 'UploadPart', nth: 2 }).truncate(2);
      await upload('parts');
      expect(await sizes()).toEqual({ parts: minPartBytes + 2 });
    });
  });

  describe('is slow', () => {
    it('to forward requests, which arrive completely', async () => {
      const slow = faults.on({ operation: 'PutObject' }).slow(1_000_000);
      const answered = vi.fn();
      const done = put('key', Buffer.alloc(300_000, 'x')).then(answered);
      await slow.untilHit();
      expect(await sizes()).toEqual({}); // a round trip, while the first pieces wait
      expect(answered).not.toHaveBeenCalled();
      await done;
      expect(await sizes()).toEqual({ key: 300_000 });
    });

    it('to forward responses', async () => {
      await put('key', 'some bytes');
      const slow = faults.on({ operation: 'GetObject' }).slow(100);
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
      expect(await Body?.transformToString()).toBe('some bytes');
      expect(slow.hits).toBe(1);
    });
  });
});

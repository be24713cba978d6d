// A bucket that fails on demand: what is retried, what is not, and that nothing is left behind.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DestinationError, StoreConflict } from '../../src/s3/destination-error.ts';
import type { S3Limits } from '../../src/s3/s3-limits.ts';
import type { S3Store } from '../../src/exports/destinations/s3-store.ts';
import { openFaultServer, type FaultServer } from '../s3/fault-server.ts';
import { describeS3, openGateway } from '../s3/gateway.ts';
import { putParts, startUpload } from '../s3/multipart.ts';
import { localFile } from './local-file.ts';
import { openS3, s3Target } from './s3-target.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const mb = 1_024 ** 2;
const small = 1_000;
const large = 30 * mb;
const never = new AbortController().signal;

describeS3('a bucket that fails', () => {
  const gateway = fixture(() => openGateway());
  let faults: FaultServer;
  let bucket: string;
  const scratch = sharedFolder();
  const stores: S3Store[] = [];
  beforeEach(async () => {
    faults = await openFaultServer(gateway);
    bucket = await gateway.createBucket();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
    await faults[Symbol.asyncDispose]();
  });

  const open = (limits: Partial<S3Limits> = {}): S3Store => {
    const { keys } = gateway;
    const store = openS3(s3Target({ endpoint: faults.endpoint, keys, bucket }), limits);
    stores.push(store);
    return store;
  };
  const put = async (
    bytes: number,
    {
      store = open(),
      signal = never,
      ifAbsent = false,
    }: Partial<Parameters<S3Store['put']>[2]> & { store?: S3Store } = {},
  ) => {
    const file = await localFile(scratch, bytes);
    await store.put('file', file, { ifAbsent, signal });
    expect(await store.head('file', never)).toEqual({ bytes, sha256: file.sha256 });
    const stored = await gateway.read(bucket, 'some/prefix/file');
    expect(file.content.equals(stored)).toBe(true);
  };
  const expectNothingLeft = async (): Promise<void> => {
    expect(await gateway.objects(bucket)).toEqual([]);
    expect(await gateway.uploads(bucket)).toEqual([]);
  };
  const failure = async (work: Promise<unknown>): Promise<DestinationError> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(DestinationError);
    return error as DestinationError;
  };

  it.each(['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'] as const)(
    'that is busy, reset or failing for a while at %s gets the file',
    async (operation) => {
      const bytes = operation === 'PutObject' ? small : large;
      faults.on({ operation, nth: 1 }).answer(503, 'SlowDown');
      faults.on({ operation, nth: 2 }).answer(500, 'InternalError');
      faults.on({ operation, nth: 3 }).reset();
      await put(bytes);
      expect(await gateway.uploads(bucket)).toEqual([]);
    },
  );

  it.each(['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'] as const)(
    'whose response to %s was lost has the file, and no upload stays open',
    async (operation) => {
      const rule = faults.on({ operation, nth: 1 }).resetAfterCommit();
      await put(operation === 'PutObject' ? small : large);
      expect(rule.hits).toBe(1);
      expect(await gateway.uploads(bucket)).toEqual([]);
      expect(await gateway.objects(bucket)).toHaveLength(1);
    },
  );

  it('that is disconnected in the middle of a part gets the part again', async () => {
    faults.on({ operation: 'UploadPart', nth: 2 }).reset({ afterBytes: 3 * mb });
    await put(large);
  });

  it('that answers 200 with an error in the body gets the request again', async () => {
    const rule = faults.on({ operation: 'CompleteMultipartUpload', nth: 1 }).errorBody200();
    await put(large);
    expect(rule.hits).toBe(1);
  });

  it('that always answers 200 with an error in the body fails, not for good', async () => {
    faults.on({ operation: 'CompleteMultipartUpload' }).errorBody200();
    const error = await failure(put(large));
    expect(error).toMatchObject({ code: 'InternalError', isFinal: false });
    await expectNothingLeft();
  });

  it.each([
    ['PutObject', small],
    ['CreateMultipartUpload', large],
    ['UploadPart', large],
  ] as const)('that stays busy at %s is tried five times', async (operation, bytes) => {
    faults.on({ operation }).answer(503, 'SlowDown');
    const error = await failure(put(bytes));
    expect(error).toMatchObject({ code: 'SlowDown', isFinal: false });
    expect(faults.requestsOf(operation).length).toBeGreaterThanOrEqual(5);
    await expectNothingLeft();
  });

  it.each([
    ['PutObject', small],
    ['UploadPart', large],
    ['CompleteMultipartUpload', large],
  ] as const)(
    'that is silent at %s times out',
    async (operation, bytes) => {
      faults.on({ operation }).hold();
      // The other requests of the upload have the same time limit.
      const error = await failure(put(bytes, { store: open({ idleMs: 5_000, tries: 2 }) }));
      expect(error).toMatchObject({ code: 'Timeout', isFinal: false });
      await expectNothingLeft();
    },
    120_000,
  );

  it('that is slow without end times out', async () => {
    faults.on({ operation: 'PutObject' }).slow(1_000);
    const error = await failure(put(600_000, { store: open({ callMs: 500 }) }));
    expect(error).toMatchObject({ code: 'Timeout', isFinal: false });
    await expectNothingLeft();
  });

  it('that stores fewer bytes than were sent is detected', async () => {
    faults.on({ operation: 'PutObject' }).truncate(10);
    const store = open();
    const file = await localFile(scratch, small);
    await store.put('file', file, { ifAbsent: false, signal: never });
    expect(await store.head('file', never)).toMatchObject({ bytes: 10 });
  });

  it.each([
    ['CreateMultipartUpload', 1],
    ['UploadPart', 1],
    ['UploadPart', 4],
    ['CompleteMultipartUpload', 1],
  ] as const)('keeps nothing of a file that is cancelled at %s number %i', async (operation, nth) => {
    const rule = faults.on({ operation, nth }).hold();
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const cancelled = put(large, { signal: controller.signal });
    await rule.untilHit();
    controller.abort(reason);
    if (operation === 'CreateMultipartUpload') rule.release();
    await expect(cancelled).rejects.toBe(reason);
    await expectNothingLeft();
  });

  it('keeps no part that arrives after the cancel', async () => {
    const rule = faults.on({ operation: 'UploadPart', nth: 2 }).hang();
    const controller = new AbortController();
    const cancelled = put(large, { signal: controller.signal });
    await rule.untilHit();
    controller.abort(new Error('cancelled'));
    await expect(cancelled).rejects.toThrow('cancelled');
    await expectNothingLeft();
  });

  it.each([small, large])(
    'rejects replacing an existing file by one of %i bytes, and keeps no part of it',
    async (bytes) => {
      const store = open();
      await store.putText('file', 'first', 'text/plain', never);
      await expect(put(bytes, { store, ifAbsent: true })).rejects.toThrow(StoreConflict);
      expect((await gateway.read(bucket, 'some/prefix/file')).length).toBe(5);
      expect(await gateway.uploads(bucket)).toEqual([]);
    },
  );

  it('may report an existing file only at the end of the upload', async () => {
    faults.on({ operation: 'CompleteMultipartUpload' }).answer(412, 'PreconditionFailed');
    await expect(put(large, { ifAbsent: true })).rejects.toThrow(StoreConflict);
    await expectNothingLeft();
  });

  it('removes open uploads of a key, and nothing else', async () => {
    const client = gateway.client();
    for (const name of ['file', 'file', 'file-2']) {
      const target = { client, bucket, key: `some/prefix/${name}` };
      await putParts({ ...target, uploadId: await startUpload(target) }, [Buffer.alloc(10)]);
    }
    await open().removeUnfinished('file', never);
    expect((await gateway.uploads(bucket)).map(({ key }) => key)).toEqual(['some/prefix/file-2']);
  });

  it('may deny listing uploads, but a busy response is an error', async () => {
    const store = open({ tries: 1 });
    faults.on({ operation: 'ListMultipartUploads' }).answer(403, 'AccessDenied');
    await store.removeUnfinished('file', never);
    faults.clear();
    faults.on({ operation: 'ListMultipartUploads' }).answer(503, 'SlowDown');
    expect(await failure(store.removeUnfinished('file', never))).toMatchObject({ isFinal: false });
  });

  it('that is deleted meanwhile is distinguished from a busy one', async () => {
    const rule = faults.on({ operation: 'UploadPart', nth: 2 }).hold();
    const failed = failure(put(large));
    await rule.untilHit();
    await gateway.deleteBucket(bucket);
    rule.release();
    expect(await failed).toMatchObject({ code: expect.stringMatching(/^NoSuch(Bucket|Upload)$/) });
    expect(await failure(put(small))).toMatchObject({ code: 'NoSuchBucket', isFinal: true });
  });

  it.each([
    [403, 'AccessDenied', true],
    [403, 'SignatureDoesNotMatch', true],
    [400, 'ExpiredToken', true],
    [301, 'PermanentRedirect', true],
    [400, 'KMS.DisabledException', true],
    [400, 'KMS.ThrottlingException', false],
    [403, 'SomethingNew', true],
    [400, 'SomethingNew', false],
    [507, 'SomethingNew', false],
    [400, 'RequestTimeout', false],
  ])('that answers %i %s: final is %s', async (status, code, isFinal) => {
    faults.on({ operation: 'PutObject' }).answer(status, code, 'a sentence of the service');
    const error = await failure(put(small, { store: open({ tries: 1 }) }));
    expect(error).toMatchObject({ code, isFinal });
    expect(error.message).toContain(`The service answered ${code}: "a sentence of the service"`);
  });

  it('cannot expose its response body to users', async () => {
    faults.on({ operation: 'PutObject' }).answer(400, 'Evil code: x', 'canary');
    const error = await failure(put(small, { store: open({ tries: 1 }) }));
    expect(error.code).toBe('Http400');
    expect(`${error.stack} ${(error.cause as Error).stack}`).not.toMatch(/canary|Evil/);
  });
});

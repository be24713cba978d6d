// Exports to a bucket that fails, is slow, loses its responses, or is deleted.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { testDatabase } from '../database.ts';
import { openFaultServer } from '../s3/fault-server.ts';
import { describeS3, openGateway, type S3User } from '../s3/gateway.ts';
import { bucketView, checkCompleted, checkUnfinished } from './export-audit.ts';
import { eventually } from '../eventually.ts';
import { type ExportNode, startExportNode } from './export-node.ts';
import {
  eventsOf,
  firstDay,
  newExport,
  newPlace,
  type Place,
  runsOf,
  sql,
  statusOf,
} from './export-tables.ts';
import { bucketTarget } from './s3-destination.ts';
import { addRuns } from './stored-runs.ts';
import { fixture } from '../fixture.ts';

const part = /part-\d+\.parquet$/;

describeS3('an export to a bucket', () => {
  const db = fixture(() => testDatabase());
  const gateway = fixture(() => openGateway());
  const faults = fixture(() => openFaultServer(gateway));
  let node: ExportNode;
  beforeAll(async () => {
    node = await startExportNode(db, { settings: { exportRetries: 2 } });
  });
  afterAll(async () => {
    faults.clear();
    await node[Symbol.asyncDispose]();
  });

  let bucket: string;
  let place: Place;
  let user: S3User;
  beforeEach(async () => {
    faults.clear();
    bucket = await gateway.createBucket();
    user = await gateway.createUser();
    await gateway.allowOnly(user, bucket, [
      's3:PutObject',
      's3:GetObject',
      's3:DeleteObject',
      's3:AbortMultipartUpload',
      's3:ListMultipartUploadParts',
      's3:ListBucket',
      's3:ListBucketMultipartUploads',
    ]);
    place = await newPlace(db);
    const through = { endpoint: faults.endpoint, region: gateway.region } as const;
    place.destination_id = (
      await node.destinations.create(place.tenant_id, bucketTarget(through, bucket, { user }))
    ).id;
  });

  const start = async ({ count = 250, bytes = 1_000, days = 1 } = {}): Promise<string> => {
    for (let day = 1; day <= days; day++)
      await addRuns(db, place, { start: `2026-03-0${day}T00:00:00Z`, count, bytes });
    return newExport(db, place, { days });
  };
  const until = (id: string, status: string): Promise<void> =>
    eventually(async () => expect(await statusOf(db, id)).toBe(status), 60_000);
  const view = () => bucketView(gateway, bucket, user);
  const completed = async (id: string) => {
    await until(id, 'COMPLETED');
    return checkCompleted(db, view(), id);
  };
  const quiet = () => eventually(() => expect(node.worker.running).toBe(0));
  const firstRun = async (id: string) => (await runsOf(db, id))[0]!;

  it('has every row once', async () => {
    const manifest = await completed(await start({ days: 2 }));
    expect(manifest.rows).toBe(500);
    expect(manifest.files[0]?.key).toMatch(/^traces\/all\/export_id=/);
  });

  it('completes when the bucket is busy, slow, or interrupts connections for a moment', async () => {
    faults.on({ operation: 'PutObject', key: part, nth: 1, times: 2 }).answer(503, 'SlowDown');
    faults.on({ operation: 'PutObject', key: part, nth: 4 }).reset({ afterBytes: 1_000 });
    faults.on({ operation: 'PutObject', key: part, nth: 6 }).slow(50_000);
    faults.on({ operation: 'HeadObject', nth: 2 }).answer(500, 'InternalError');
    const id = await start();
    await completed(id);
    expect(await firstRun(id)).toMatchObject({ retry_number: 0, errors: {} });
  });

  it('is retried when the bucket fails for longer', async () => {
    const rule = faults.on({ operation: 'PutObject', key: part, times: 7 }).answer(500, 'InternalError');
    const id = await start();
    await completed(id);
    expect(rule.hits).toBe(7);
    expect(await firstRun(id)).toMatchObject({
      status: 'COMPLETED',
      retry_number: 1,
      errors: { retry_0: expect.stringContaining('InternalError') },
    });
  });

  it('has no duplicates when the response to an upload was lost', async () => {
    const rule = faults.on({ operation: 'PutObject', key: part, nth: 2 }).resetAfterCommit();
    const id = await start();
    await completed(id);
    expect(rule.hits).toBe(1);
    expect(await firstRun(id)).toMatchObject({ retry_number: 0, errors: {} });
  });

  it('detects a truncated object, and writes it again', async () => {
    faults.on({ operation: 'PutObject', key: part, nth: 2 }).truncate(500);
    const id = await start();
    await completed(id);
    expect(await firstRun(id)).toMatchObject({
      retry_number: 1,
      errors: { retry_0: expect.stringMatching(/was uploaded, but the stored object has 500 bytes/) },
    });
  });

  it('fails at once when its credentials are revoked, with a reason that does not contain them', async () => {
    // Both partition runs wait at a file, and one file has been written: a rejected HEAD would have no error code.
    const rule = faults.on({ operation: 'PutObject', key: part, nth: 2, times: 2 }).hold();
    const id = await start({ days: 2 });
    await rule.untilHit(2);
    await gateway.revokeKeys(user);
    rule.release();
    await until(id, 'FAILED');
    const runs = await runsOf(db, id);
    expect(runs.map(({ status }) => status).toSorted()).toEqual(['CANCELLED', 'FAILED']);
    const failed = runs.find(({ status }) => status === 'FAILED')!;
    expect(failed).toMatchObject({
      retry_number: 0,
      errors: { retry_0: expect.stringContaining('InvalidAccessKeyId') },
    });
    const stored = JSON.stringify(
      await sql(db, 'select * from exports e, export_events v where e.id = $1 and v.export_id = e.id', [id]),
    );
    expect(stored + JSON.stringify(runs)).not.toContain(user.keys.secretAccessKey);
    await quiet();
    await checkUnfinished(view(), id);
  });

  it('fails at once when its bucket is deleted', async () => {
    const rule = faults.on({ operation: 'PutObject', key: part, nth: 2 }).hold();
    const id = await start();
    await rule.untilHit();
    await gateway.deleteBucket(bucket);
    rule.release();
    await until(id, 'FAILED');
    const run = await firstRun(id);
    expect(run).toMatchObject({
      status: 'FAILED',
      retry_number: 0,
      errors: { retry_0: expect.stringContaining('NoSuchBucket') },
    });
    expect((await eventsOf(db, id)).at(-1)).toBe('failed');
  });

  it('uses new credentials from the next attempt on', async () => {
    const rule = faults.on({ operation: 'PutObject', key: part, nth: 2 }).hold();
    const id = await start();
    await rule.untilHit();
    const renewed = await gateway.addKeys(user);
    const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = renewed.keys;
    await node.destinations.change(place.tenant_id, place.destination_id, {
      credentials: { access_key_id, secret_access_key, session_token: undefined },
    });
    // The current attempt fails for another reason, and its keys are revoked by then.
    faults.clear();
    faults.on({ operation: 'PutObject', key: part, times: 5 }).answer(500, 'InternalError');
    rule.release();
    await eventually(async () => expect((await firstRun(id)).retry_number).toBe(1), 60_000);
    await gateway.revokeKeys(user);
    user = renewed;
    await completed(id);
  });

  it('leaves nothing behind when it is cancelled during an upload, and adds nothing later', async () => {
    const rule = faults.on({ operation: 'PutObject', key: part, nth: 2 }).hold();
    const id = await start();
    await rule.untilHit();
    expect(await exportStorage(db).cancel(place.tenant_id, id)).toBe('RUNNING');
    await eventually(() => expect(node.worker.running).toBe(0));
    const before = await checkUnfinished(view(), id);
    rule.release();
    const held = faults.requests.filter((request) => request.bucket === bucket && request.fault === 'hold');
    expect(held.map(({ status }) => status)).toEqual([undefined]);
    expect(await checkUnfinished(view(), id)).toEqual(before);
    expect((await firstRun(id)).status).toBe('CANCELLED');
    expect(await statusOf(db, id)).toBe('CANCELLED');
  });

  it('aborts a multipart upload when it is cancelled', async () => {
    await using large = await startExportNode(db, { settings: { exportFileBytes: 62_914_560 } });
    await node[Symbol.asyncDispose]();
    try {
      const rule = faults.on({ operation: 'UploadPart', nth: 2 }).hold();
      const id = await start({ count: 50, bytes: 700_000 });
      await rule.untilHit();
      expect(await gateway.uploads(bucket)).toHaveLength(1);
      await exportStorage(db).cancel(place.tenant_id, id);
      await eventually(() => expect(large.worker.running).toBe(0));
      await eventually(async () => expect(await gateway.uploads(bucket)).toEqual([]));
      rule.release();
      expect(await checkUnfinished(view(), id)).toEqual([]);
    } finally {
      node = await startExportNode(db, { settings: { exportRetries: 2 } });
    }
  });

  it('has no duplicates when the response to the end of a multipart upload was lost', async () => {
    await node[Symbol.asyncDispose]();
    try {
      await using _ = await startExportNode(db, { settings: { exportFileBytes: 62_914_560 } });
      const rule = faults.on({ operation: 'CompleteMultipartUpload', nth: 1 }).resetAfterCommit();
      const id = await start({ count: 50, bytes: 700_000 });
      const manifest = await completed(id);
      expect(rule.hits).toBe(1);
      expect(manifest.files).toHaveLength(1);
    } finally {
      node = await startExportNode(db, { settings: { exportRetries: 2 } });
    }
  });

  it('fails when its manifest is rejected, and is retried when the manifest only fails', async () => {
    const rule = faults
      .on({ operation: 'PutObject', key: /_manifest\.json$/, times: 6 })
      .answer(500, 'InternalError');
    const id = await start({ count: 10 });
    await completed(id);
    expect(rule.hits).toBe(6);
    expect(await eventsOf(db, id)).toContain('retry');
    faults.on({ operation: 'PutObject', key: /_manifest\.json$/ }).answer(403, 'AccessDenied');
    const other = await newExport(db, place, { start: firstDay });
    await until(other, 'FAILED');
    expect((await firstRun(other)).status).toBe('COMPLETED');
    await checkUnfinished(view(), other);
  });
});

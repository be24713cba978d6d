// Backups to a bucket that fails, or that others use: what is retried, and that nothing remains that looks like a backup.
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { openFaultServer, type FaultServer } from '../s3/fault-server.ts';
import { describeS3, openGateway } from '../s3/gateway.ts';
import { addLargeTable, BackupBucket, failure, prefix } from './backup-bucket.ts';
import { fillDatabase, run } from './filled-database.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

describeS3('a backup to a bucket', () => {
  const gateway = fixture(() => openGateway());
  let faults: FaultServer;
  const source = fixture(() => testDatabase());
  let name: string;
  let bucket: BackupBucket;
  beforeAll(async () => {
    await fillDatabase(source);
    await addLargeTable(source);
  });
  beforeEach(async () => {
    faults = await openFaultServer(gateway);
    name = await gateway.createBucket();
    bucket = new BackupBucket(gateway, name, { endpoint: faults.endpoint });
  });
  afterEach(async () => {
    await bucket[Symbol.asyncDispose]();
    await faults[Symbol.asyncDispose]();
  });

  it('contains one moment while rows are written', async () => {
    let isDone = false;
    const writing = (async () => {
      // Both rows or none, in two tables that are copied at different times.
      while (!isDone)
        await source.transact(async (tx) => {
          const item = 'insert into store_items (namespace, key, value) values ($1, gen_random_uuid(), $2)';
          await tx.query({ text: item }, [['pair'], '{}']);
          const workspace = `insert into workspaces (id, display_name) values (gen_random_uuid(), 'pair')`;
          await tx.query({ text: workspace }, []);
        });
    })();
    try {
      await bucket.backUp(source);
    } finally {
      isDone = true;
      await writing;
    }
    await using target = await testDatabase({ migrated: false });
    await bucket.restore(target);
    const [counts] = await run<{ items: string; workspaces: string }>(
      target,
      `select (select count(*) from store_items where namespace = array['pair']) as items,
        (select count(*) from workspaces where display_name = 'pair') as workspaces`,
    );
    expect(counts?.items).toBe(counts?.workspaces);
  });

  it('that is written twice at the same time is complete once', async () => {
    const held = faults.on({ operation: 'ListBucket', nth: 1, times: 2 }).hold();
    const both = [bucket.backUp(source), bucket.backUp(source)];
    await held.untilHit(2);
    held.release();
    const ends = await Promise.allSettled(both);
    const refused = ends.filter((end) => end.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as Error).message)).toEqual([
      `Another backup is written to ${bucket.url}. Name a new prefix`,
    ]);
    await bucket.verify();
  });

  it('is complete on a service without If-None-Match', async () => {
    const unsupported = faults.on({ operation: 'PutObject', nth: 1 }).answer(501, 'NotImplemented');
    await bucket.backUp(source);
    expect(unsupported.hits).toBe(1);
    await bucket.verify();
  });

  it('repeats requests that are rejected or interrupted for a while', async () => {
    for (const operation of ['PutObject', 'UploadPart', 'CompleteMultipartUpload'] as const) {
      faults.on({ operation, nth: 2 }).answer(503, 'SlowDown');
      faults.on({ operation, nth: 4 }).reset();
    }
    await bucket.backUp(source);
    await bucket.verify();
  });

  it.each(['PutObject', 'UploadPart', 'CompleteMultipartUpload'] as const)(
    'is complete when the response to %s was lost',
    async (operation) => {
      const lost = faults.on({ operation, nth: 1 }).resetAfterCommit();
      await bucket.backUp(source);
      expect(lost.hits).toBe(1);
      await bucket.verify();
      expect(await gateway.uploads(name)).toEqual([]);
    },
  );

  it('waits while the network is gone for a while', async () => {
    await using patient = new BackupBucket(gateway, name, { endpoint: faults.endpoint, outageMs: 60_000 });
    const lost = faults.on({ operation: 'UploadPart', nth: 1 }).resetAfterCommit();
    const backup = patient.backUp(source);
    await lost.untilHit();
    const outage = faults.on({}).reset();
    // More than the client attempts by itself, for three parts.
    await outage.untilHit(12);
    faults.clear();
    await backup;
    await patient.verify();
    expect(await gateway.uploads(name)).toEqual([]);
  });

  it('starts one upload when the responses to its start are lost in an outage', async () => {
    await using patient = new BackupBucket(gateway, name, { endpoint: faults.endpoint, outageMs: 60_000 });
    faults.on({ operation: 'CreateMultipartUpload', nth: 1, times: 4 }).resetAfterCommit();
    await patient.backUp(source);
    await patient.verify();
    expect(await gateway.uploads(name)).toEqual([]);
  });

  it.each([
    ['the service fails', 500, 'InternalError', /cannot be written[^]*internal error/],
    ['the bucket is full', 403, 'QuotaExceeded', /cannot be written[^]*quota of the bucket is exceeded/],
  ] as const)('leaves nothing when %s in the middle', async (_, status, code, message) => {
    faults.on({ operation: 'UploadPart', nth: 2, times: Infinity }).answer(status, code);
    expect(await failure(bucket.backUp(source))).toMatch(message);
    expect(await bucket.contents()).toEqual([]);
  });

  it('leaves nothing when the last object cannot be written', async () => {
    faults.on({ operation: 'PutObject', key: `${prefix}/manifest.json` }).answer(500, 'InternalError');
    expect(await failure(bucket.backUp(source))).toMatch(/cannot be written/);
    expect(await bucket.contents()).toEqual([]);
  });

  it(
    'that loses the network is no backup, and says what remains',
    async () => {
      const held = faults.on({ operation: 'UploadPart', nth: 1 }).hold();
      const failed = failure(bucket.backUp(source));
      await held.untilHit();
      faults.clear();
      faults.on().reset();
      expect(await failed).toMatch(
        /contains files of an unfinished backup, which could not be removed\. Delete them[^]*cannot be written/,
      );
      expect(await bucket.keys()).not.toContain(`${prefix}/manifest.json`);
      faults.clear();
      expect(await failure(bucket.verify())).toMatch(/There is no backup/);
    },
    scaled(180_000),
  );

  it('that is stopped leaves nothing', async () => {
    const stop = new AbortController();
    const held = faults.on({ operation: 'UploadPart', nth: 2 }).hold();
    const failed = failure(bucket.backUp(source, { signal: stop.signal }));
    await held.untilHit();
    stop.abort(new Error('stopped by SIGTERM'));
    expect(await failed).toBe('stopped by SIGTERM');
    held.release();
    expect(await bucket.contents()).toEqual([]);
  });

  it('whose database is lost leaves nothing', async () => {
    const held = faults.on({ operation: 'UploadPart', nth: 1 }).hold();
    const failed = failure(bucket.backUp(source));
    await held.untilHit();
    await run(
      source,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc backup' and datname = current_database()`,
    );
    held.release();
    expect(await failed).not.toBe('it has not failed');
    expect(await bucket.contents()).toEqual([]);
  });

  it('whose objects are changed meanwhile is not completed', async () => {
    const held = faults.on({ operation: 'UploadPart', nth: 1 }).hold();
    const failed = failure(bucket.backUp(source));
    await held.untilHit();
    await bucket.put('threads.copy.gz', Buffer.from('x'));
    held.release();
    expect(await failed).toMatch(/threads\.copy\.gz is not what was uploaded/);
    expect(await bucket.keys()).not.toContain(`${prefix}/manifest.json`);
  });

  it('needs only the permissions that the message of a refusal names', async () => {
    const user = await gateway.createUser();
    await gateway.allowOnly(user, name, ['s3:PutObject']);
    expect(await failure(bucket.backUp(source, { keys: user.keys }))).toMatch(
      /Access denied\. A backup needs s3:ListBucket/,
    );
    await gateway.allowOnly(user, name, [
      's3:ListBucket',
      's3:GetObject',
      's3:PutObject',
      's3:DeleteObject',
      's3:AbortMultipartUpload',
    ]);
    await bucket.backUp(source, { keys: user.keys });
    await gateway.allowOnly(user, name, ['s3:GetObject']);
    await bucket.verify('checksums', { keys: user.keys });
  });
});

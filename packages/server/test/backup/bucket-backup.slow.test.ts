// Backups in a bucket of a real S3: what they contain, and what a restore refuses.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Manifest } from '../../src/storage/backup/manifest.ts';
import { testDatabase } from '../database.ts';
import { openFaultServer } from '../s3/fault-server.ts';
import { describeS3, openGateway } from '../s3/gateway.ts';
import { addLargeTable, BackupBucket, failure, largeFile, prefix } from './backup-bucket.ts';
import { digests, fillDatabase, run } from './filled-database.ts';
import { fixture } from '../fixture.ts';

describeS3('a backup in a bucket', () => {
  const gateway = fixture(() => openGateway());
  const faults = fixture(() => openFaultServer(gateway));
  const source = fixture(() => testDatabase());
  let stored: BackupBucket;
  let manifest: Manifest;
  beforeAll(async () => {
    await fillDatabase(source);
    await addLargeTable(source);
    stored = new BackupBucket(gateway, await gateway.createBucket(), { endpoint: faults.endpoint });
    manifest = await stored.backUp(source);
  });
  afterAll(async () => {
    await stored[Symbol.asyncDispose]();
  });

  it('has a large table from parts, and its manifest written last', async () => {
    const written = faults.requests.filter(
      ({ operation, status }) => /^(?:PutObject|CompleteMultipartUpload)$/.test(operation) && status === 200,
    );
    expect(written.at(-1)?.key).toBe(`${prefix}/manifest.json`);
    expect(written).toHaveLength(manifest.tables.length + 1);
    const parts = faults.requestsOf('UploadPart');
    expect(parts.length).toBeGreaterThan(2);
    expect([...new Set(parts.map(({ key }) => key))]).toEqual([`${prefix}/${largeFile}`]);
    expect((await stored.contents()).toSorted()).toEqual(
      [...manifest.tables.map(({ file }) => file), 'manifest.json']
        .map((file) => `${prefix}/${file}`)
        .toSorted(),
    );
  });

  it('is restored with every row, and read once', async () => {
    const before = faults.requestsOf('GetObject').length;
    await using target = await testDatabase({ migrated: false });
    await stored.restore(target);
    expect(await digests(target)).toEqual(await digests(source));
    const reads = faults.requestsOf('GetObject').slice(before);
    const small = reads.filter(({ key }) => key !== `${prefix}/${largeFile}`);
    expect(small).toHaveLength(manifest.tables.length);
  });

  it('is not replaced by another one', async () => {
    const before = await stored.keys();
    expect(await failure(stored.backUp(source))).toBe(
      `${stored.url} is not empty. Name a new prefix for the backup`,
    );
    expect(await stored.keys()).toEqual(before);
    await stored.verify();
  });

  const withDamage = async (
    file: string,
    change: (content: Buffer) => Buffer | undefined,
    work: () => Promise<void>,
  ): Promise<void> => {
    const content = await stored.read(file);
    const changed = change(Buffer.from(content));
    await (changed === undefined ? stored.delete(file) : stored.put(file, changed));
    await work();
    await stored.put(file, content);
  };

  it.each<[string, string, (content: Buffer) => Buffer | undefined, RegExp]>([
    [
      'a missing object',
      'threads.copy.gz',
      () => undefined,
      /incomplete: s3:.*threads\.copy\.gz cannot be read/,
    ],
    [
      'no manifest',
      'manifest.json',
      () => undefined,
      /There is no backup: s3:.*manifest\.json cannot be read/,
    ],
    [
      'an object that was cut',
      'threads.copy.gz',
      (content) => content.subarray(0, 1_000),
      /threads\.copy\.gz is damaged/,
    ],
    ['an empty object', 'threads.copy.gz', () => Buffer.alloc(0), /threads\.copy\.gz is damaged/],
    [
      'a manifest that was edited',
      'manifest.json',
      (content) => Buffer.from(content.toString().replace('"rows": 5000', '"rows": 4999')),
      /manifest\.json is damaged/,
    ],
  ])('with %s is refused before the database is changed', async (_, file, change, message) => {
    await using target = await testDatabase({ migrated: false });
    await withDamage(file, change, async () => {
      expect(await failure(stored.restore(target))).toMatch(message);
      expect(await failure(stored.verify())).toMatch(message);
    });
    expect(await run(target, `select to_regnamespace('svc') as schema`)).toEqual([{ schema: null }]);
  });

  it.each([
    ['in its middle', (content: Buffer) => content.length >> 1],
    ['in its checksum', (content: Buffer) => content.length - 6],
    ['that gzip ignores', () => 9],
  ])('with a changed byte %s restores nothing', async (_, at) => {
    await using target = await testDatabase({ migrated: false });
    const change = (content: Buffer): Buffer => {
      content[at(content)]! ^= 1;
      return content;
    };
    await withDamage('threads.copy.gz', change, async () => {
      expect(await failure(stored.restore(target))).toMatch(/threads\.copy\.gz is damaged/);
      expect(await failure(stored.verify())).toMatch(/threads\.copy\.gz is damaged/);
    });
    const rows =
      'select ((select count(*) from threads) + (select count(*) from assistants))::integer as count';
    expect(await run(target, rows)).toEqual([{ count: 0 }]);
  });

  it('is read again from where the connection was lost', async () => {
    const lost = faults
      .on({ operation: 'GetObject', key: `${prefix}/${largeFile}`, nth: 2 })
      .resetAfterCommit();
    await stored.verify();
    expect(lost.hits).toBe(1);
  });

  it('fails with the reason and the remedy when it cannot be read or written', async () => {
    const { accessKeyId } = gateway.keys;
    const secretAccessKey = 'wrong-secret';
    expect(await failure(stored.backUp(source, { keys: { accessKeyId, secretAccessKey } }))).toMatch(
      /cannot be written[^]*Check AWS_SECRET_ACCESS_KEY/,
    );
    expect(
      await failure(stored.verify('sizes', { keys: { accessKeyId: 'UNKNOWN', secretAccessKey } })),
    ).toMatch(/cannot be read[^]*does not know AWS_ACCESS_KEY_ID/);
    const bucket = 'svc-no-such-bucket';
    for (const work of [() => stored.backUp(source, { bucket }), () => stored.verify('sizes', { bucket })])
      expect(await failure(work())).toMatch(/cannot be (?:written|read)[^]*The bucket does not exist/);
    const endpoint = 'http://127.0.0.1:9';
    expect(await failure(stored.backUp(source, { endpoint }))).toMatch(/The endpoint cannot be reached/);
  });
});

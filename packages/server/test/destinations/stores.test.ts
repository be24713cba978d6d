// Behaviour of every kind of store.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StoreConflict } from '../../src/s3/destination-error.ts';
import type { ProbedStore } from '../../src/exports/destinations/file-store.ts';
import { FolderStore } from '../../src/exports/destinations/folder-store.ts';
import { describeS3, openGateway, type Gateway } from '../s3/gateway.ts';
import { localFile } from './local-file.ts';
import { openS3, s3Target } from './s3-target.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const mb = 1_024 ** 2;
const never = new AbortController().signal;
const text = 'text/plain';

interface Place extends AsyncDisposable {
  open(): ProbedStore;
  /** All objects below the prefix, sorted; also temporary ones. */
  list(): Promise<string[]>;
  read(key: string): Promise<Buffer>;
}

const inFolder = async (): Promise<Place> => {
  const root = await mkdtemp(join(tmpdir(), 'destinations-'));
  const folder = join(root, 'some', 'prefix');
  const isFile = (entry: { isFile(): boolean }): boolean => entry.isFile();
  return {
    open: () => new FolderStore('some/prefix', [root]),
    async list() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter(isFile)
        .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
        .toSorted();
    },
    read: (key) => readFile(join(folder, key)),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
};

const inBucket = async (): Promise<Place> => {
  const gateway: Gateway = await openGateway();
  const bucket = await gateway.createBucket();
  const prefix = 'some/prefix/';
  return {
    open: () => openS3(s3Target({ endpoint: gateway.endpoint, keys: gateway.keys, bucket })),
    async list() {
      expect(await gateway.uploads(bucket)).toEqual([]);
      return (await gateway.objects(bucket)).map(({ key }) => key.slice(prefix.length)).toSorted();
    },
    read: async (key) => Buffer.from(await gateway.read(bucket, prefix + key)),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
};

const behaves = (open: () => Promise<Place>): void => {
  const place = fixture(() => open());
  const store = fixture(() => place.open());
  const scratch = sharedFolder();

  it('has an address', async () => {
    await store.findAddress(never);
    expect(store.root).toMatch(/some\/prefix$/);
  });

  it.each([
    ['no', 0],
    ['one', 1],
    ['some', 1_000],
    ['as many as one request takes', 16 * mb],
    ['one more', 16 * mb + 1],
    ['many', 30 * mb + 7],
  ])('keeps a file of %s bytes, and returns its size and hash', async (name, bytes) => {
    const file = await localFile(scratch, bytes);
    const key = `sizes/${name}.parquet`;
    await store.put(key, file, { ifAbsent: false, signal: never });
    expect((await place.read(key)).equals(file.content)).toBe(true);
    expect(await store.head(key, never)).toEqual({ bytes, sha256: file.sha256 });
  });

  it('keeps a short text', async () => {
    await store.putText('export_id=1/_manifest.json', '{"é":1}', 'application/json', never);
    expect((await place.read('export_id=1/_manifest.json')).toString()).toBe('{"é":1}');
    expect(await store.head('export_id=1/_manifest.json', never)).toEqual({
      bytes: 8,
      sha256: createHash('sha256').update('{"é":1}').digest('hex'),
    });
  });

  it('keeps names unchanged', async () => {
    const key = 'year=2026/ä b+c%20d&e=é/日本.parquet';
    await store.putText(key, 'x', text, never);
    expect(await place.list()).toContain(key);
    expect(await store.head(key, never)).toMatchObject({ bytes: 1 });
  });

  it('replaces an existing file', async () => {
    for (const bytes of [10, 17 * mb, 5]) {
      const file = await localFile(scratch, bytes);
      await store.put('replaced', file, { ifAbsent: false, signal: never });
      expect(await store.head('replaced', never)).toEqual({ bytes, sha256: file.sha256 });
    }
  });

  it('rejects replacing an existing file with ifAbsent', async () => {
    const first = await localFile(scratch, 10);
    await store.put('once', first, { ifAbsent: true, signal: never });
    const second = await localFile(scratch, 20);
    await expect(store.put('once', second, { ifAbsent: true, signal: never })).rejects.toThrow(StoreConflict);
    await expect(store.createText('once', 'x', text, never)).rejects.toThrow(StoreConflict);
    expect(await store.head('once', never)).toEqual({ bytes: 10, sha256: first.sha256 });
  });

  it('returns undefined for an unknown key, and deletes it without an error', async () => {
    expect(await store.head('nothing/here', never)).toBeUndefined();
    await store.remove('nothing/here', never);
    await store.removeUnfinished('nothing/here', never);
  });

  it('deletes a file', async () => {
    await store.putText('removed', 'x', text, never);
    await store.remove('removed', never);
    expect(await place.list()).not.toContain('removed');
  });

  it.each([1_000, 40 * mb])(
    'leaves nothing of a file of %i bytes when aborted before the upload',
    async (bytes) => {
      const before = await place.list();
      const file = await localFile(scratch, bytes);
      const reason = new Error('cancelled');
      const put = store.put('aborted', file, { ifAbsent: false, signal: AbortSignal.abort(reason) });
      await expect(put).rejects.toBe(reason);
      expect(await place.list()).toEqual(before);
    },
  );

  it('leaves nothing of a file when aborted during the upload', async () => {
    const before = await place.list();
    const file = await localFile(scratch, 60 * mb);
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const put = store.put('aborted', file, { ifAbsent: false, signal: controller.signal });
    setImmediate(() => setImmediate(() => controller.abort(reason)));
    await expect(put).rejects.toBe(reason);
    expect(await place.list()).toEqual(before);
  });

  it('leaves nothing of a file that is shorter than declared', async () => {
    const before = await place.list();
    for (const bytes of [10, 20 * mb]) {
      const file = await localFile(scratch, bytes);
      const put = store.put('short', { ...file, bytes: bytes + 1 }, { ifAbsent: false, signal: never });
      await expect(put).rejects.toThrow();
    }
    expect(await place.list()).toEqual(before);
  });

  it.each(['../out', 'a/../../out', '/abs', 'a//b', '', 'a/', './a', 'a\nb', 'a\0b', 'a\ud800'])(
    'rejects a key like %j',
    async (key) => {
      await expect(store.putText(key, 'x', text, never)).rejects.toThrow(/^A store key/);
      await expect(store.head(key, never)).rejects.toThrow(/^A store key/);
    },
  );
};

describe('a folder', () => behaves(inFolder));
describeS3('a bucket', () => behaves(inBucket));

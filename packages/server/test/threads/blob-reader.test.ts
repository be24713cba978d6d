// Blobs of states that are read again: from memory, and the same as from storage.
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { BlobReader } from '../../src/deployment/threads/blob-reader.ts';
import { RecentBlobs } from '../../src/engine/checkpoints/recent-blobs.ts';
import type { BlobRoot } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import { checkpointStorage, type SizedBlobs } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());

const mb = 1_048_576;

/** Hashes of messages, of a list of all but the last one, and of a list that consists of that list and the last message. */
interface Stored {
  space: string;
  messages: string[];
  list: string;
  longer: string;
}

const store = async (count = 3): Promise<Stored> => {
  const [space, list, longer] = [randomUUID(), randomUUID(), randomUUID()];
  const messages = Array.from({ length: count }, () => randomUUID());
  const insert = {
    name: 'insert_blob',
    text: 'insert into blobs (space, hash, refs, payload) values ($1, $2, $3::uuid[], $4)',
  };
  for (const [at, hash] of messages.entries())
    await database.query(insert, [space, hash, null, `"message ${at} ${'ü'.repeat(100)}"`]);
  await database.query(insert, [space, list, messages.slice(0, -1), '[0]']);
  await database.query(insert, [space, longer, [list, messages.at(-1)], '[1]']);
  return { space, messages, list, longer };
};

/** `statements`: the hashes of the roots that were read from storage, with what is below them or only the nodes of their lists. */
const openReader = () => {
  const storage = checkpointStorage(database);
  const statements: { of: 'all' | 'nodes'; hashes: string[] }[] = [];
  const note = (of: 'all' | 'nodes', roots: BlobRoot[]) =>
    statements.push({ of, hashes: roots.flatMap(({ hashes }) => hashes) });
  const reader = new BlobReader(
    {
      blobsOf: (roots, bytesMax) => {
        note('all', roots);
        return storage.blobsOf(roots, bytesMax);
      },
      nodesOf: (roots, bytesMax) => {
        note('nodes', roots);
        return storage.nodesOf(roots, bytesMax);
      },
    },
    new RecentBlobs(),
  );
  const byHash = ({ blobs, bytes }: SizedBlobs) => ({
    bytes,
    blobs: blobs && new Map(blobs.map(({ hash, refs, payload }) => [hash, { refs, payload }])),
  });
  const read = async (roots: BlobRoot[], bytesMax = mb) => byHash(await reader.read(roots, bytesMax));
  const fromStorage = async (roots: BlobRoot[], bytesMax = mb) =>
    byHash(await storage.blobsOf(roots, bytesMax));
  return { read, fromStorage, statements };
};

let stored: Stored;
beforeEach(async () => {
  stored = await store();
});

it('takes one statement for the first read, and none for the second', async () => {
  const { read, fromStorage, statements } = openReader();
  const roots = [{ space: stored.space, hashes: [stored.list] }];
  const expected = await fromStorage(roots);
  expect(await read(roots)).toMatchObject({ bytes: expected.bytes });
  expect(await read(roots)).toEqual(expected);
  expect(statements).toEqual([{ of: 'all', hashes: [stored.list] }]);
});

it('reads only what is below a reference that is not known', async () => {
  const { read, statements } = openReader();
  const [first = '', , third = ''] = stored.messages;
  await read([{ space: stored.space, hashes: [first] }]);
  const { blobs } = await read([{ space: stored.space, hashes: [first, third] }]);
  expect([...(blobs?.keys() ?? [])]).toEqual([first, third]);
  expect(statements).toEqual([
    { of: 'all', hashes: [first] },
    { of: 'all', hashes: [third] },
  ]);
});

it('reads only the new element of a long list that has grown', async () => {
  const long = await store(100);
  const { read, fromStorage, statements } = openReader();
  await read([{ space: long.space, hashes: [long.list] }]);
  const roots = [{ space: long.space, hashes: [long.longer] }];
  const expected = await fromStorage(roots);
  expect(await read(roots)).toEqual(expected);
  expect(await read(roots)).toEqual(expected);
  expect(statements).toEqual([
    { of: 'all', hashes: [long.list] },
    { of: 'nodes', hashes: [long.longer] },
    { of: 'all', hashes: [long.messages.at(-1)] },
  ]);
});

it('returns no blobs and the exact size when they are larger than the limit', async () => {
  const { read, fromStorage } = openReader();
  const roots = [{ space: stored.space, hashes: [stored.list] }];
  const { bytes } = await read(roots);
  expect(await read(roots, bytes)).toEqual(await fromStorage(roots, bytes));
  expect(await read(roots, bytes - 1)).toEqual({ blobs: undefined, bytes });
});

it('takes one statement when nothing is known and the blobs are larger than the limit', async () => {
  const { read, statements } = openReader();
  const roots = [{ space: stored.space, hashes: [stored.list] }];
  expect((await read(roots, 1)).blobs).toBeUndefined();
  expect(statements).toEqual([{ of: 'all', hashes: [stored.list] }]);
});

it('counts a blob once that is known and that a missing blob references too', async () => {
  const { read, fromStorage } = openReader();
  const [first = ''] = stored.messages;
  const roots = [{ space: stored.space, hashes: [first, stored.longer] }];
  const { bytes } = await fromStorage(roots);
  await read([{ space: stored.space, hashes: [first] }]);
  expect(await read(roots, bytes)).toEqual(await fromStorage(roots));
});

it('finds no blob of another thread', async () => {
  const { read, statements } = openReader();
  await read([{ space: stored.space, hashes: [stored.list] }]);
  const { blobs } = await read([{ space: randomUUID(), hashes: [stored.list] }]);
  expect(blobs?.size).toBe(0);
  expect(statements).toHaveLength(2);
});

it('reads the blobs of several threads from storage', async () => {
  const other = await store();
  const { read, statements } = openReader();
  const roots = [stored, other].map(({ space, list }) => ({ space, hashes: [list] }));
  await read(roots);
  expect((await read(roots)).blobs?.size).toBe(6);
  expect(statements).toHaveLength(2);
});

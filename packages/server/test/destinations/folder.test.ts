// A folder of the server: nothing is written outside of its root, whatever symbolic links exist.
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DestinationError } from '../../src/s3/destination-error.ts';
import { folderError, FolderStore } from '../../src/exports/destinations/folder-store.ts';
import { testFolder } from '../folders.ts';

const never = new AbortController().signal;

let root: string;
let outside: string;
beforeEach(() => {
  root = testFolder();
  outside = testFolder();
});

const write = (path: string, key: string): Promise<void> =>
  new FolderStore(path, [root]).putText(key, 'x', 'text/plain', never);

describe('a folder', () => {
  it.each([
    ['as the folder', 'link', 'key'],
    ['above it', 'link/deeper', 'key'],
    ['in a key', '.', 'link/key'],
    ['deeper in a key', '.', 'link/deeper/key'],
  ])('is not followed out of its root by a symbolic link %s', async (_, path, key) => {
    await mkdir(join(outside, 'deeper'));
    await symlink(outside, join(root, 'link'));
    const store = path === '.' ? '' : path;
    await expect(write(join(root, store), key)).rejects.toMatchObject({
      code: expect.stringMatching(/^E(LOOP|NOTDIR)$/),
      isFinal: true,
    });
    expect(await readdir(outside, { recursive: true })).toEqual(['deeper']);
    await expect(new FolderStore(join(root, store), [root]).head(key, never)).rejects.toThrow(
      DestinationError,
    );
  });

  it("replaces a symbolic link with the name of a file, and does not change the link's target", async () => {
    await writeFile(join(outside, 'theirs'), 'theirs');
    await symlink(join(outside, 'theirs'), join(root, 'key'));
    await expect(new FolderStore(root, [root]).head('key', never)).rejects.toMatchObject({ code: 'ELOOP' });
    await write(root, 'key');
    expect(await new FolderStore(root, [root]).head('key', never)).toMatchObject({ bytes: 1 });
    expect(await readdir(outside)).toEqual(['theirs']);
  });

  it("may have a root that is a symbolic link: that is the operator's doing", async () => {
    await symlink(outside, join(root, 'link'));
    await new FolderStore('a', [join(root, 'link')]).putText('key', 'x', 'text/plain', never);
    expect(await readdir(join(outside, 'a'))).toEqual(['key']);
  });

  it('that is replaced by a symbolic link during a write is not followed', async () => {
    const store = new FolderStore(root, [root]);
    let isDone = false;
    const exchange = async (): Promise<void> => {
      for (let turn = 0; !isDone; turn++) {
        await mkdir(join(root, 'a'), { recursive: true });
        await rename(join(root, 'a'), join(root, `was-${turn}`)).catch(() => undefined);
        await symlink(outside, join(root, 'a')).catch(() => undefined);
        // The store may write into the folder meanwhile.
        await rm(join(root, 'a'), { recursive: true, force: true, maxRetries: 100, retryDelay: 1 });
      }
    };
    const exchanging = exchange();
    for (let at = 0; at < 300; at++)
      await store.putText(`a/b/key-${at}`, 'x', 'text/plain', never).catch((error: unknown) => {
        expect(error).toBeInstanceOf(DestinationError);
      });
    isDone = true;
    await exchanging;
    expect(await readdir(outside, { recursive: true })).toEqual([]);
  });

  it('with a file in place of a directory fails with a message', async () => {
    await writeFile(join(root, 'a'), '');
    await expect(write(root, 'a/key')).rejects.toMatchObject({ code: 'ENOTDIR', isFinal: true });
    await mkdir(join(root, 'folder'));
    await expect(write(root, 'folder')).rejects.toMatchObject({ code: 'EISDIR', isFinal: true });
    expect((await readdir(root)).toSorted()).toEqual(['a', 'folder']);
    await expect(write(root, 'x'.repeat(300))).rejects.toMatchObject({ code: 'ENAMETOOLONG', isFinal: true });
  });

  it('removes unfinished files of a key, and nothing else', async () => {
    await write(root, 'file');
    const left = ['.file.0123456789ab.svc-part', '.file-2.0123456789ab.svc-part', '.file.txt'];
    for (const name of left) await writeFile(join(root, name), '');
    await new FolderStore(root, [root]).removeUnfinished('file', never);
    expect((await readdir(root)).toSorted()).toEqual(['.file-2.0123456789ab.svc-part', '.file.txt', 'file']);
  });

  it.each(['..', '../x', '/etc', 'a/../../x'])('cannot have the path %s', (path) => {
    expect(() => new FolderStore(path, [root])).toThrow(/SVC_EXPORT_FILE_ROOTS/);
  });

  it('is below the first root for a relative path, else below any root', () => {
    expect(new FolderStore('a', [root, outside]).root).toBe(join(root, 'a'));
    expect(new FolderStore(join(outside, 'a'), [root, outside]).root).toBe(join(outside, 'a'));
    expect(() => new FolderStore(`${outside}-more`, [root, outside])).toThrow(DestinationError);
  });
});

it.each([
  ['ENOSPC', false],
  ['EDQUOT', false],
  ['EIO', false],
  ['EACCES', true],
  ['EROFS', true],
  ['ENOTDIR', true],
  ['ESTALE', false],
])('treats the system error %s as final: %s', (code, isFinal) => {
  const cause = Object.assign(new Error(`${code}: something, open '/secret/path'`), { code });
  const error = folderError(cause) as DestinationError;
  expect(error).toMatchObject({ code, isFinal });
  expect(error.message).not.toContain('/secret/path');
});

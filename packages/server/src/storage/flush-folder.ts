import { open } from 'node:fs/promises';

/** New and renamed files survive a power failure only when their folder was flushed. */
export const flushFolder = async (folder: string): Promise<void> => {
  if (process.platform === 'win32') return; // Windows cannot open a folder
  await using handle = await open(folder);
  await handle.sync();
};

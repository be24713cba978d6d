// A file whose owner shows that it lives by touching it. Whoever watches compares two times of the file with each other, never
// with its own clock.
import { open, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a file is touched. */
const beatMs = 2_000;
/** Its owner may be on a busy machine, behind a network file system. */
const quietMs = 15_000;
const lookMs = 250;

/** Touches the file until it is disposed; one that has gone is not made again. */
export const keepBeating = (file: string): Disposable => {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined); // read-only, or gone: the file is not touched
  }, beatMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

/** Resolves with true at the next beat, with false when there is none for long, or no file. */
export const isBeating = async (file: string, signal?: AbortSignal): Promise<boolean> => {
  const first = await touchedMs(file);
  if (first === undefined) return false;
  const deadline = performance.now() + quietMs;
  while (performance.now() < deadline) {
    await sleep(lookMs, undefined, signal ? { signal } : {});
    const now = await touchedMs(file);
    if (now === undefined) return false;
    if (now !== first) return true;
  }
  return false;
};

/** A network file system may remember times; it asks again when a file is opened. */
const touchedMs = async (file: string): Promise<number | undefined> => {
  try {
    await using handle = await open(file);
    return (await handle.stat()).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

// Reads a local file in the parts of a multipart upload.
import type { FileHandle } from 'node:fs/promises';

export async function* filePartsOf(
  source: FileHandle,
  { bytes, partBytes }: { bytes: number; partBytes: number },
): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes; start += partBytes)
    yield await readSlice(source, start, Math.min(partBytes, bytes - start));
}

/** Reads exactly `bytes` bytes; throws when the file is shorter. */
export const readSlice = async (source: FileHandle, start: number, bytes: number): Promise<Buffer> => {
  const slice = Buffer.allocUnsafe(bytes);
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await source.read(slice, filled, bytes - filled, start + filled);
    if (bytesRead === 0) throw new Error(`The local file ends at byte ${start + filled}`);
    filled += bytesRead;
  }
  return slice;
};

// Memory for large bodies and responses, in pages of its own. Other buffers come from malloc(): glibc gives each thread an arena, and
// keeps freed memory there, up to twice the size of the largest freed buffer. V8 maps the pages of a resizable buffer, and unmaps them
// when the buffer is freed.

/** Smaller buffers come from malloc(). */
const mappedBytesMin = 65_536;

/** Zeros. The buffer can be transferred to another thread. */
export const mappedBytes = (size: number): Uint8Array<ArrayBuffer> =>
  size < mappedBytesMin
    ? new Uint8Array(size)
    : new Uint8Array(new ArrayBuffer(size, { maxByteLength: size }), 0, size);

/** Returns the pages of mapped bytes to the system at once. Otherwise they stay until the garbage is collected. */
export const freeMapped = ({ buffer }: Uint8Array<ArrayBuffer>): void => {
  if (buffer.resizable) buffer.resize(0);
};

/** The text in UTF-8. */
export const mappedText = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = mappedBytes(Buffer.byteLength(text));
  Buffer.from(bytes.buffer).write(text);
  return bytes;
};

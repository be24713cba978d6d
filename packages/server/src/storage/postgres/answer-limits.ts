/** Limits of what one response reads from the database. */
export interface AnswerLimits {
  /** Bytes of a page of a list. The page ends before the row that would exceed them; it always has its first row. */
  pageBytes: number;
  /** Bytes of a single value, such as the state of a thread. */
  valueBytes: number;
  /** Budget of memory for large reads, which wait until it has room for them. */
  memory?: { hold(bytes: number): Promise<() => void> };
}

/** Reads up to this many bytes do not use the memory budget. */
export const freeBytes = 1_048_576;
/** How many copies of a large value are in memory at once: as received, as text, and as the response. */
const copies = 3;

/** Calls `read` while memory for `bytes` is reserved. */
export const whileHeld = async <T>(
  { memory }: AnswerLimits,
  bytes: number,
  read: () => Promise<T>,
): Promise<T> => {
  const release = await memory?.hold(bytes * copies);
  try {
    return await read();
  } finally {
    release?.();
  }
};

/** For reads by graphs, which are bounded by the limit that the graph passes. */
export const noAnswerLimits: AnswerLimits = {
  pageBytes: Number.MAX_SAFE_INTEGER,
  valueBytes: Number.MAX_SAFE_INTEGER,
};

export const defaultAnswerLimits: AnswerLimits = { pageBytes: 16_777_216, valueBytes: 67_108_864 };

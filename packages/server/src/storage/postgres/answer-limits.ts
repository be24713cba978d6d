/** How much of the database one answer may hold. */
export interface AnswerLimits {
  /** Bytes of a page of a list: it ends before the row that would exceed them, but not before its first row. */
  pageBytes: number;
  /** Bytes of a single thing, such as the state of a thread. */
  valueBytes: number;
  /** Memory for what is large, held while it is read; what does not fit waits. */
  memory?: { hold(bytes: number): Promise<() => void> };
}

/** Bytes that are read without holding memory. */
export const freeBytes = 1_048_576;
/** How often what is read is there at once: as it came, as text, and as the answer. */
const copies = 3;

/** Reads something large while memory is held for it. */
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

/** For graphs: what they read is bounded by the limit that they ask for. */
export const noAnswerLimits: AnswerLimits = {
  pageBytes: Number.MAX_SAFE_INTEGER,
  valueBytes: Number.MAX_SAFE_INTEGER,
};

export const defaultAnswerLimits: AnswerLimits = { pageBytes: 16_777_216, valueBytes: 67_108_864 };

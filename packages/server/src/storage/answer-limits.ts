/** How much of the database one answer may hold. */
export interface AnswerLimits {
  /** Bytes of a page of a list: it ends before the row that would exceed them, but not before its first row. */
  pageBytes: number;
  /** Bytes of a single thing, such as the state of a thread. */
  valueBytes: number;
}

/** For graphs: what they read is bounded by the limit that they ask for. */
export const noAnswerLimits: AnswerLimits = {
  pageBytes: Number.MAX_SAFE_INTEGER,
  valueBytes: Number.MAX_SAFE_INTEGER,
};

export const defaultAnswerLimits: AnswerLimits = { pageBytes: 16_777_216, valueBytes: 67_108_864 };

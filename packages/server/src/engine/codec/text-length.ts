// Estimates the length of a value without encoding it.

/** True when the texts in the value have more characters than the limit; stops as soon as that is known. */
export const isLonger = (value: unknown, limit: number): boolean => {
  let left = limit;
  const visit = (part: unknown): void => {
    if (typeof part === 'string') left -= part.length;
    else left -= 4;
    if (typeof part !== 'object' || part === null) return;
    if (ArrayBuffer.isView(part)) {
      left -= part.byteLength;
      return;
    }
    if (Array.isArray(part)) {
      for (let index = 0; index < part.length && left >= 0; index++) visit(part[index]);
      return;
    }
    for (const key in part) {
      if (left < 0) return;
      visit((part as Record<string, unknown>)[key]);
    }
  };
  visit(value);
  return left < 0;
};

// Bounds the length of error messages, which graphs and the services that they call may make as long as they like.
// Messages are stored with the run, the thread and the checkpoint, and are logged and traced.

const charsMax = { head: 6_000, tail: 2_000 };
const nameCharsMax = 200;

/** Cuts a long text in the middle, with a note of the cut: the cause of an error is usually at the beginning or at the end. */
export const boundedText = (text: string): string => {
  const { head, tail } = charsMax;
  if (text.length <= head + tail) return text;
  const note = `[… ${text.length - head - tail} of ${text.length} characters left out …]`;
  return `${text.slice(0, head)}${note}${text.slice(-tail)}`;
};

/** The message of a thrown value. Never throws, although getters and conversions of the value may. */
export const messageOf = (thrown: unknown): string => {
  try {
    const message: unknown = thrown instanceof Error ? thrown.message : thrown;
    return boundedText(typeof message === 'string' ? message : String(message));
  } catch {
    // Such as an object without a prototype, or one whose getter throws.
    return 'The message of the error cannot be read';
  }
};

/** Causes below this depth are left out; a cause may also be its own cause. */
const causesMax = 5;

/** The stacks of an error and of its causes; undefined when it has none that can be read. */
export const stackOf = (thrown: unknown): string | undefined => {
  const stacks: string[] = [];
  try {
    let error = thrown;
    while (error instanceof Error && stacks.length <= causesMax) {
      const { stack, cause } = error as { stack?: unknown; cause?: unknown };
      if (typeof stack !== 'string') break;
      stacks.push(stack);
      error = cause;
    }
    // A cause that is no error has no stack.
    if (stacks.length > 0 && typeof error === 'string') stacks.push(error);
  } catch {
    // A getter throws. What was read before remains.
  }
  return stacks.length === 0 ? undefined : boundedText(stacks.join('\nCaused by: '));
};

export const errorName = (error: Error): string => {
  try {
    const { name } = error as { name: unknown };
    return typeof name === 'string' && name !== '' ? name.slice(0, nameCharsMax) : 'Error';
  } catch {
    return 'Error'; // its getter throws
  }
};

/** Bounds the name and message of an error in the form that the engine stores for a failed task. */
export const boundedError = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  const { name, message } = value as { name?: unknown; message?: unknown };
  return typeof message === 'string' && typeof name === 'string'
    ? { ...value, message: boundedText(message), name: name.slice(0, nameCharsMax) }
    : value;
};

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

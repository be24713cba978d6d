// Messages of errors, which graphs and the services that they call make as long as they like. They are stored with the run, the
// thread and the checkpoint, logged and traced.

const charsMax = { head: 6_000, tail: 2_000 };
const nameCharsMax = 200;

/** A long text is cut in the middle, and says so: what went wrong stands at its beginning or at its end. */
export const boundedText = (text: string): string => {
  const { head, tail } = charsMax;
  if (text.length <= head + tail) return text;
  const note = `[… ${text.length - head - tail} of ${text.length} characters left out …]`;
  return `${text.slice(0, head)}${note}${text.slice(-tail)}`;
};

/** The message of whatever was thrown. Never throws: getters and conversions may. */
export const messageOf = (thrown: unknown): string => {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown;
    return boundedText(typeof said === 'string' ? said : String(said));
  } catch {
    // Such as an object without a prototype, or one whose getter throws.
    return 'An error whose message cannot be read';
  }
};

/** The stack of an error, for the log; undefined when it has none that can be read. */
export const stackOf = (thrown: unknown): string | undefined => {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
    return typeof stack === 'string' ? boundedText(stack) : undefined;
  } catch {
    return undefined;
  }
};

export const errorName = (error: Error): string => {
  try {
    const { name } = error as { name: unknown };
    return typeof name === 'string' && name !== '' ? name.slice(0, nameCharsMax) : 'Error';
  } catch {
    return 'Error'; // its getter throws
  }
};

/** What the engine writes for a task that has failed: the name and message of its error. */
export const boundedError = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  const { name, message } = value as { name?: unknown; message?: unknown };
  return typeof message === 'string' && typeof name === 'string'
    ? { ...value, message: boundedText(message), name: name.slice(0, nameCharsMax) }
    : value;
};

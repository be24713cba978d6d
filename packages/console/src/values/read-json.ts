/** The value of a JSON text; undefined for an empty one. */
export const readJson = (text: string): { value: unknown } | { problem: string } => {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `Not valid JSON: ${(error as Error).message}` };
  }
};

/** JSON with two spaces, for a field that is edited. */
export const formatJson = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, null, 2);

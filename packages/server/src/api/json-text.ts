/**
 * A member of a large body as JSON text: it was parsed and checked elsewhere, and is only stored or passed on. Routes list these
 * members in `textFields`.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  value(): unknown {
    return JSON.parse(this.text);
  }
}

export const toJsonText = (value: unknown): string =>
  value instanceof JsonText ? value.text : JSON.stringify(value);

/** JSON text of an object. Members may be JSON text already. The texts are concatenated, because join() would copy long ones. */
export const objectText = (members: object): string => {
  let text = '{';
  for (const [name, value] of Object.entries(members) as [string, unknown][])
    if (value !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${toJsonText(value)}`;
  return `${text}}`;
};

/** JSON text of a row of the database. `texts`: columns that are JSON text. `fields`: the columns to include; all when absent. */
export const rowText = (row: object, texts: readonly string[], fields?: readonly string[]): string =>
  objectText(
    Object.fromEntries(
      (Object.entries(row) as [string, unknown][])
        .filter(([name]) => fields?.includes(name) ?? true)
        .map(([name, value]) => [
          name,
          typeof value === 'string' && texts.includes(name) ? new JsonText(value) : value,
        ]),
    ),
  );

/** Replaces texts by their values, for code that inspects them. */
export const withValues = <T extends object>(members: T): T => {
  const entries = Object.entries(members) as [string, unknown][];
  if (!entries.some(([, value]) => value instanceof JsonText)) return members;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof JsonText ? value.value() : value]),
  ) as T;
};

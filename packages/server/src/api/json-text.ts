/**
 * A member of a large body as JSON text: it has been parsed and checked elsewhere, and is only stored or passed on. Routes name
 * the members that they take so (`textFields`).
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

/** JSON text of an object whose members may be texts already. */
export const objectText = (members: object): string => {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(members) as [string, unknown][])
    if (value !== undefined) parts.push(`${JSON.stringify(name)}:${toJsonText(value)}`);
  return `{${parts.join(',')}}`;
};

/** JSON text of a row of the database. `texts`: its columns that are JSON text. `fields`: those that are wanted. */
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

/** The same with values in place of texts, for code that looks into them. */
export const withValues = <T extends object>(members: T): T => {
  const entries = Object.entries(members) as [string, unknown][];
  if (!entries.some(([, value]) => value instanceof JsonText)) return members;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof JsonText ? value.value() : value]),
  ) as T;
};

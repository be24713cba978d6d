// The objects that a list finds, as a file that the browser saves.

export interface ListPage {
  rows: readonly object[];
  /** Where the next page begins; undefined on the last one. */
  next: string | undefined;
}

export type ReadPage = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage>;

/** Objects of a request, where the server has no lower limit. */
export const downloadPage = 500;

/** For a search with an offset, which does not say where the next page begins. */
export const readByOffset =
  (read: (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<object[]>): ReadPage =>
  async (cursor = '0', signal) => {
    const offset = Number(cursor);
    const rows = await read({ limit: downloadPage, offset }, signal);
    return { rows, next: rows.length < downloadPage ? undefined : String(offset + downloadPage) };
  };

/** Objects in one file: the browser holds them all. */
export const downloadMax = 10_000;

/** Reads pages until the end or the limit. `onRead` gets the count after each page. */
export const readAll = async (
  read: ReadPage,
  {
    signal,
    onRead,
    max = downloadMax,
  }: { signal: AbortSignal; onRead: (count: number) => void; max?: number },
): Promise<{ rows: object[]; isWhole: boolean }> => {
  const rows: object[] = [];
  let next: string | undefined;
  do {
    const page = await read(next, signal);
    rows.push(...page.rows);
    ({ next } = page);
    onRead(Math.min(rows.length, max));
  } while (next !== undefined && rows.length < max);
  return { rows: rows.slice(0, max), isWhole: next === undefined && rows.length <= max };
};

/** One column for each field, in the order of their first appearance. Values that are objects are JSON. */
export const csvOf = (rows: readonly object[]): string => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => cellOf((row as Record<string, unknown>)[name])));
  return [names.map(cellOf), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
};

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Spreadsheets execute a text that begins like a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const saveFile = (name: string, type: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after this event.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

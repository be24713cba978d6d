// Searches whose filters have no index examine a table window by window, in the order of the page. The time of a request is bounded: a page
// may end early, with a cursor for the rest.

/** Rows that are examined for a page, window after window, before it ends early. */
const windows = [500, 5_000, 20_000] as const;

/** `end`: the last row of a full window, behind which there may be more; null when all rows were examined. */
interface Window<Place> {
  places: Place[];
  end: Place | null;
}

interface Rest<Place> {
  /** The search continues behind this place. */
  after: Place | undefined;
  /** Places that are still needed. */
  limit: number;
}

/**
 * The places of a page. `read` examines the next rows. `instead`: called once, when the first window was not enough, for all places by another
 * way; undefined when there is none.
 */
export const searchWindows = async <Place>(
  page: Rest<Place>,
  read: (rest: Rest<Place>, rows: number) => Promise<Window<Place>>,
  instead: () => Promise<Window<Place> | undefined> = async () => undefined,
): Promise<Window<Place>> => {
  const places: Place[] = [];
  let end: Place | null = null;
  for (const rows of windows) {
    const rest = { after: end ?? page.after, limit: page.limit - places.length };
    const found = await read(rest, Math.max(rows, rest.limit));
    places.push(...found.places);
    end = found.end;
    if (end === null || places.length >= page.limit) break;
    const other = rows === windows[0] ? await instead() : undefined;
    if (other) return other;
  }
  return { places, end };
};

export interface FoundPage<Row> {
  rows: Row[];
  /** The cursor of the next page; null on the last one. */
  next: string | null;
  /** Why the page has fewer rows than its limit although more may follow. */
  limitedBy?: 'bytes' | 'rows' | undefined;
}

/** `searched`: the places of the page and of one more row. `isCut`: only the first of them were read, because of their bytes. */
export const foundPage = <Row, Place>(
  { rows, isCut }: { rows: Row[]; isCut: boolean },
  { places, end }: Window<Place>,
  limit: number,
  cursorOf: (place: Place) => string,
): FoundPage<Row> => {
  const last = places[(isCut ? rows.length : Math.min(limit, places.length)) - 1];
  if (isCut && last) return { rows, next: cursorOf(last), limitedBy: 'bytes' };
  if (places.length > limit && last) return { rows, next: cursorOf(last) };
  return end === null ? { rows, next: null } : { rows, next: cursorOf(end), limitedBy: 'rows' };
};

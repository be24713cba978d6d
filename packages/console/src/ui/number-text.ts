const grouped = new Intl.NumberFormat('en-US');

/** `18,204`; nothing where a trace run has no tokens. */
export const tokensOf = (tokens: number | null | undefined): string =>
  typeof tokens === 'number' ? countOf(tokens) : '';

/** A decimal of any length, in dollars. Small costs keep two digits that are not zero. */
export const costOf = (cost: string | null | undefined): string => {
  const dollars = Number(cost ?? Number.NaN);
  if (!Number.isFinite(dollars)) return '';
  if (dollars === 0 || dollars >= 0.01) return `$${dollars.toFixed(dollars >= 1 ? 2 : 4)}`;
  return `$${dollars.toPrecision(2)}`;
};

/** `1 run`, `3 runs`, `50+ runs` when the list that was read has more. */
export const countText = (
  count: number,
  noun: string,
  { hasMore = false, plural }: { hasMore?: boolean; plural?: string } = {},
): string =>
  `${countOf(count)}${hasMore ? '+' : ''} ${count === 1 && !hasMore ? noun : (plural ?? `${noun}s`)}`;

const units = ['kB', 'MB', 'GB', 'TB'] as const;

/** `512 B`, `61.3 MB`. */
export const sizeOf = (bytes: number): string => {
  if (bytes < 1_000) return `${bytes} B`;
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
};

/** `18,204`. */
export const countOf = (count: number): string => grouped.format(count);

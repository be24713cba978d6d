const grouped = new Intl.NumberFormat('en-US');

/** `18,204`; nothing where a trace run has no tokens. */
export const tokensOf = (tokens: number | null | undefined): string =>
  typeof tokens === 'number' ? grouped.format(tokens) : '';

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
): string => `${count}${hasMore ? '+' : ''} ${count === 1 && !hasMore ? noun : (plural ?? `${noun}s`)}`;

/** `1 run`, `3 runs`, `50+ runs` when the list that was read has more. */
export const countText = (
  count: number,
  noun: string,
  { hasMore = false, plural }: { hasMore?: boolean; plural?: string } = {},
): string => `${count}${hasMore ? '+' : ''} ${count === 1 && !hasMore ? noun : (plural ?? `${noun}s`)}`;

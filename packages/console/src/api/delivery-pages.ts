/** The server ends a page of deliveries before its limit after many deliveries of other users: reading it is expensive. */
export const hasEndedEarly = (
  { deliveries, next }: { deliveries: readonly unknown[]; next?: string | undefined },
  limit: number,
): boolean => next !== undefined && deliveries.length < limit;

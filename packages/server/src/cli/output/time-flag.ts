// Times as they are typed: ISO 8601, a day (its beginning, in UTC), `now`, or how long ago (`36h`, `7d`).

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

/** ISO 8601; undefined for what is no time. */
export const readTime = (text: string, nowMs: number): string | undefined => {
  if (text === 'now') return new Date(nowMs).toISOString();
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago) return new Date(nowMs - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs]).toISOString();
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  const isZoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(time);
  return isZoned && !Number.isNaN(Date.parse(time)) ? time : undefined;
};

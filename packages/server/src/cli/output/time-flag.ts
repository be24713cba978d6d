// Reads times of flags: ISO 8601, a day (its start in UTC), `now`, or a duration before now (`36h`, `7d`).

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

/** Returns ISO 8601, or undefined when the text is not a time. */
export const readTime = (text: string, nowMs: number): string | undefined => {
  if (text === 'now') return new Date(nowMs).toISOString();
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago) return new Date(nowMs - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs]).toISOString();
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  const isZoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(time);
  return isZoned && !Number.isNaN(Date.parse(time)) ? time : undefined;
};

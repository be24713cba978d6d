// Text form of durations: `500ms`, `30s`, `2m`, `4h`, `1d`. Values are milliseconds.

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

type Unit = keyof typeof unitsMs;

const pattern = /^(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)$/;

/** Whole milliseconds; undefined when the text is not a duration. The unit is required. */
export function parseDuration(text: string): number | undefined {
  const match = pattern.exec(text.trim());
  if (match === null) return undefined;
  const ms = Math.round(Number(match[1]) * unitsMs[match[2] as Unit]);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The shortest text that `parseDuration` turns into this number. */
export function formatDuration(ms: number): string {
  const units: Unit[] = ['d', 'h', 'm', 's'];
  const unit = ms === 0 ? 's' : (units.find((candidate) => ms % unitsMs[candidate] === 0) ?? 'ms');
  return `${ms / unitsMs[unit]}${unit}`;
}

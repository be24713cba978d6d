// A time to live as people write it: an amount of minutes, hours or days.
import type { Thread } from '@svc/sdk';

export type ThreadTtl = NonNullable<Thread['ttl']>;
type Unit = keyof typeof unitMinutes;

export interface TtlDraft {
  strategy: ThreadTtl['strategy'] | 'never';
  amount: string;
  unit: Unit;
}

export const unitMinutes = { minutes: 1, hours: 60, days: 1_440 } as const;

/** The most that the server takes: a hundred years. */
const daysMax = 36_500;

/** The longest unit of which it is a whole number. */
const inUnits = (minutes: number): { amount: number; unit: Unit } => {
  const unit =
    (['days', 'hours'] as const).find((name) => Number.isInteger(minutes / unitMinutes[name])) ?? 'minutes';
  return { amount: minutes / unitMinutes[unit], unit };
};

/** `30 days`, `1 hour`. */
export const spanText = (minutes: number): string => {
  const { amount, unit } = inUnits(minutes);
  return `${amount.toLocaleString('en-US')} ${amount === 1 ? unit.slice(0, -1) : unit}`;
};

export const draftOf = (ttl: ThreadTtl | undefined): TtlDraft => {
  if (ttl === undefined) return { strategy: 'never', amount: '30', unit: 'days' };
  const { amount, unit } = inUnits(ttl.ttl_minutes);
  return { strategy: ttl.strategy, amount: String(amount), unit };
};

/** What is wrong with the amount. The server checks the rest. */
export const amountProblem = ({ strategy, amount, unit }: TtlDraft): string | undefined => {
  if (strategy === 'never') return undefined;
  const value = amount.trim() === '' ? Number.NaN : Number(amount);
  if (!(value > 0)) return 'The time must be a number above 0.';
  const max = (daysMax * unitMinutes.days) / unitMinutes[unit];
  if (value > max) return `The time must be at most ${max.toLocaleString('en-US')} ${unit}, a hundred years.`;
  return undefined;
};

/** The `ttl` of the request; null for a thread that never expires. */
export const ttlOf = ({ strategy, amount, unit }: TtlDraft) =>
  strategy === 'never' ? null : { strategy, ttl: Number(amount) * unitMinutes[unit] };

import { bucketText, momentText } from './bucket-text.ts';

/** `26 Nov, 14:05–14:06`; undefined without a range. */
export const rangeText = (
  from: string | undefined,
  to: string | undefined,
  timeZone?: string,
): string | undefined => {
  const [fromMs, toMs] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  if (fromMs < toMs && toMs - fromMs < 86_400_000) return bucketText(toMs - fromMs, timeZone).bucket(fromMs);
  const ends = [
    ...(from === undefined ? [] : [`from ${momentText(fromMs, timeZone)}`]),
    ...(to === undefined ? [] : [`before ${momentText(toMs, timeZone)}`]),
  ];
  return ends.length > 0 ? ends.join(', ') : undefined;
};

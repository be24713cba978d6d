// Markdown tables of bench:console.
import { fixed, median, percentile } from './report.ts';

export const kilobytes = (bytes: number): string => fixed(bytes / 1_000, 1);

export const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The p50 of the samples that were shown in time. */
export const middle = (samples: (number | undefined)[], digits = 0): string => {
  const found = samples.filter((sample) => sample !== undefined);
  return found.length === 0 ? 'none' : fixed(median(found), digits);
};

/** A p95 of fewer samples would be the longest one. */
export const samplesForP95 = 20;

/** Cells with the p50, the p95, and the number of samples. Samples are undefined if the page has not shown it in time. */
export const timing = (samples: (number | undefined)[]): string[] => {
  const times = samples.filter((ms) => ms !== undefined);
  const late = samples.length - times.length;
  return [
    middle(samples),
    times.length < samplesForP95 ? '' : fixed(percentile(times, 0.95), 0),
    late === 0 ? String(times.length) : `${times.length}, and ${late} not in time`,
  ];
};

export const timingHead = ['p50, ms', 'p95, ms', 'samples'];

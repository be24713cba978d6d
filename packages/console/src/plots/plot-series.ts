// What a plot shows, and the pure functions between its rows and the canvas.

/** Names of colours in tokens.css. */
export type Tone = 'green' | 'red' | 'amber' | 'blue' | 'accent' | 'muted';

export interface PlotSeries {
  label: string;
  /** One value for each bucket. Null where there is none: a gap in a line. */
  values: readonly (number | null)[];
  tone: Tone;
  /** A line with gaps: a line below it stays visible where both have the same values. */
  isDashed?: boolean;
}

export interface Buckets {
  /** Start of each bucket in milliseconds, ascending. */
  times: readonly number[];
  bucketMs: number;
}

export type PlotKind = 'lines' | 'stacked';

export const valueText = (value: number | null | undefined, unit: (value: number) => string): string =>
  value === null || value === undefined ? '–' : unit(value);

/** Whether nothing would be drawn. */
export const isEmptyPlot = (kind: PlotKind, series: readonly PlotSeries[]): boolean =>
  series.every(({ values }) =>
    values.every((value) => value === null || (kind === 'stacked' && value === 0)),
  );

/** Each series with the sum of itself and those before it. A bucket is null where all series are null. */
export const stack = (series: readonly PlotSeries[]): (number | null)[][] => {
  let below: readonly (number | null)[] = [];
  return series.map(({ values }) => {
    const sums = values.map((value, index) => {
      const under = below[index] ?? null;
      return value === null && under === null ? null : (value ?? 0) + (under ?? 0);
    });
    below = sums;
    return sums;
  });
};

/**
 * The rows of uPlot: times, then one row for each series. A point is in the middle of its bucket, so that the nearest
 * point of the cursor is the one of the bucket below it. Stacked bars are drawn over each other, the highest first.
 */
export const plotData = (
  kind: PlotKind,
  { times, bucketMs }: Buckets,
  series: readonly PlotSeries[],
): [number[], ...(number | null)[][]] => {
  const middles = times.map((ms) => ms + bucketMs / 2);
  const rows = kind === 'stacked' ? stack(series).toReversed() : series.map(({ values }) => [...values]);
  return [middles, ...rows];
};

/** From the start of the first bucket to the end of the last one. */
export const plotDomain = ({ times, bucketMs }: Buckets): [number, number] => {
  const [first = 0] = times;
  return [first, (times.at(-1) ?? first) + bucketMs];
};

/** From 0 to the highest value with some room, and at least to `leastMax`. */
export const valueRange = (max: number | null, leastMax = 0): [number, number] => [
  0,
  Math.max((max ?? 0) * 1.08, leastMax) || 1,
];

/** Points without a neighbour: a line alone would not show them. */
export const isolatedIndexes = (values: readonly (number | null | undefined)[]): number[] =>
  values.flatMap((value, index) =>
    typeof value === 'number' &&
    typeof values[index - 1] !== 'number' &&
    typeof values[index + 1] !== 'number'
      ? [index]
      : [],
  );

const wholeSteps: readonly number[] = Array.from({ length: 15 }, (_, power) => 10 ** power).flatMap((ten) => [
  ten,
  2 * ten,
  5 * ten,
]);

/** Distances between ticks. Undefined where the values have fractions: uPlot has distances for these. */
export const stepsOf = (series: readonly PlotSeries[]): readonly number[] | undefined =>
  series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
    ? wholeSteps
    : undefined;

export interface PlotRow {
  fromMs: number;
  cells: string[];
}

export const plotRows = (
  { times }: Buckets,
  series: readonly PlotSeries[],
  unit: (value: number) => string,
): PlotRow[] =>
  times.map((fromMs, index) => ({
    fromMs,
    cells: series.map(({ values }) => valueText(values[index], unit)),
  }));

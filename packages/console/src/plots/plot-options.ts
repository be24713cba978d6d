// The options of uPlot for one plot.
import uPlot from 'uplot';
import { bucketText } from './bucket-text.ts';
import type { PlotColors } from './plot-colors.ts';
import {
  isolatedIndexes,
  plotDomain,
  stepsOf,
  valueRange,
  type Buckets,
  type PlotKind,
  type PlotSeries,
} from './plot-series.ts';

export interface PlotContent extends Buckets {
  kind: PlotKind;
  series: readonly PlotSeries[];
  unit: (value: number) => string;
  /** Distances between the ticks of the values, ascending. */
  steps?: readonly number[] | undefined;
  /** The axis of the values reaches at least this one. */
  leastMax?: number | undefined;
}

interface Drawing {
  /** What is drawn now: it changes while the options stay. */
  content: () => PlotContent;
  colors: PlotColors;
  /** `12px family`, the font of the axes. */
  font: string;
  syncKey: string | undefined;
  /** The bucket below the cursor of any plot with the same key. */
  onCursor: (index: number | undefined) => void;
}

const seriesOptions = ({ kind, series }: PlotContent, { tones }: PlotColors): uPlot.Series[] => {
  if (kind === 'stacked') {
    const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
    return series.toReversed().map(({ label, tone }) => ({
      label,
      fill: tones[tone],
      width: 0,
      points: { show: false },
      ...(bars && { paths: bars }),
    }));
  }
  return series.map(({ label, tone, isDashed = false }, at) => ({
    label,
    stroke: tones[tone],
    width: 1.5,
    ...(isDashed ? { dash: [5, 4] } : {}),
    points: {
      // A point of a later series with the same value leaves a ring of the one below it.
      size: 5 + 3 * (series.length - 1 - at),
      fill: tones[tone],
      filter: (plot, index) => isolatedIndexes([...(plot.data[index] ?? [])]),
    },
  }));
};

const axes = ({ content, colors, font }: Drawing): uPlot.Axis[] => {
  const lines = { stroke: colors.text, font, ticks: { show: false } };
  const { steps, series } = content();
  const given = steps ?? stepsOf(series);
  return [
    {
      ...lines,
      size: 24,
      space: 60,
      grid: { show: false },
      values: (_, splits, _axis, _space, stepMs) => {
        const { tick } = bucketText(content().bucketMs);
        return splits.map((ms) => tick(ms, stepMs));
      },
    },
    {
      ...lines,
      space: 32,
      grid: { stroke: colors.grid, width: 1 },
      values: (_, splits) => splits.map((value) => content().unit(value)),
      // uPlot has its own distances for values with fractions, which it takes when nothing else is given.
      ...(given && { incrs: [...given] }),
      size: ({ ctx }, values: string[] | null) => {
        ctx.save();
        ctx.font = font;
        const width = Math.max(0, ...(values ?? []).map((text) => ctx.measureText(text).width));
        ctx.restore();
        return Math.ceil(width) + 12;
      },
    },
  ];
};

export const plotOptions = (size: { width: number; height: number }, drawing: Drawing): uPlot.Options => {
  const { content, colors, syncKey, onCursor } = drawing;
  const isStacked = content().kind === 'stacked';
  return {
    ...size,
    ms: 1,
    legend: { show: false },
    padding: [8, 18, 0, 0],
    scales: {
      x: { time: true, range: () => plotDomain(content()) },
      y: { range: (_, _min, max: number | null) => valueRange(max, content().leastMax) },
    },
    axes: axes(drawing),
    series: [{}, ...seriesOptions(content(), colors)],
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      ...(isStacked ? { points: { show: false } } : { points: { size: 7 } }),
      ...(syncKey === undefined ? {} : { sync: { key: syncKey, setSeries: false, scales: ['x', null] } }),
    },
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
  };
};

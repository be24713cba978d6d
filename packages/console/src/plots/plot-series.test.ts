import { expect, it } from 'vitest';
import {
  isEmptyPlot,
  isolatedIndexes,
  plotData,
  plotDomain,
  plotRows,
  stack,
  stepsOf,
  valueRange,
  type PlotSeries,
} from './plot-series.ts';

const series = (label: string, ...values: (number | null)[]): PlotSeries => ({ label, values, tone: 'blue' });

it('stacks each series on those before it, and leaves a gap only where all are missing', () => {
  const stacked = stack([series('a', 1, null, null), series('b', 2, 3, null), series('c', 4, null, null)]);
  expect(stacked).toEqual([
    [1, null, null],
    [3, 3, null],
    [7, 3, null],
  ]);
});

it('draws the highest sums first, so that lower ones are in front', () => {
  const data = plotData('stacked', { times: [0, 60], bucketMs: 60 }, [series('a', 1, 2), series('b', 3, 0)]);
  expect(data).toEqual([
    [30, 90],
    [4, 2],
    [1, 2],
  ]);
});

it('keeps gaps in lines, with each point in the middle of its bucket', () => {
  const data = plotData('lines', { times: [0, 60], bucketMs: 60 }, [series('a', null, 2)]);
  expect(data).toEqual([
    [30, 90],
    [null, 2],
  ]);
});

it('shows the time from the start of the first bucket to the end of the last one', () => {
  expect(plotDomain({ times: [60, 120, 180], bucketMs: 60 })).toEqual([60, 240]);
  expect(plotDomain({ times: [], bucketMs: 60 })).toEqual([0, 60]);
});

it('has an axis of values from 0 to some room above the highest one', () => {
  expect(valueRange(100)).toEqual([0, 108]);
  expect(valueRange(0.000_1)[1]).toBeLessThan(0.001);
  expect([valueRange(null), valueRange(0)]).toEqual([
    [0, 1],
    [0, 1],
  ]);
  expect([valueRange(0.4, 10), valueRange(null, 10), valueRange(100, 10)]).toEqual([
    [0, 10],
    [0, 10],
    [0, 108],
  ]);
});

it('finds the points that no line leads to', () => {
  expect(isolatedIndexes([1, null, 2, 3, null, undefined, 4])).toEqual([0, 6]);
});

it('has only whole distances between ticks for whole values', () => {
  expect(stepsOf([series('a', 1, null, 3)])?.slice(0, 4)).toEqual([1, 2, 5, 10]);
  expect(stepsOf([series('a', 1), series('b', 0.5)])).toBeUndefined();
});

it('is empty when nothing would be drawn: bars of 0, or no value of a line', () => {
  expect(isEmptyPlot('stacked', [series('a', 0, null)])).toBe(true);
  expect(isEmptyPlot('lines', [series('a', 0, null)])).toBe(false);
  expect(isEmptyPlot('lines', [series('a', null)])).toBe(true);
  expect(isEmptyPlot('lines', [])).toBe(true);
});

it('has a row with a text of each value for each bucket', () => {
  const rows = plotRows(
    { times: [0, 60], bucketMs: 60 },
    [series('a', 1, null), series('b', 2, 3)],
    (value) => `${value} ms`,
  );
  expect(rows).toEqual([
    { fromMs: 0, cells: ['1 ms', '2 ms'] },
    { fromMs: 60, cells: ['–', '3 ms'] },
  ]);
});

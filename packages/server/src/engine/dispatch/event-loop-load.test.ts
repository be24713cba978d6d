import { beforeEach, expect, it } from 'vitest';
import { EventLoopLoad } from './event-loop-load.ts';

const startMs = 10_000;

let load: EventLoopLoad;
let nowMs: number;
beforeEach(() => {
  load = new EventLoopLoad();
  nowMs = startMs;
  load.begin(nowMs);
});
const report = (utilization: number) => {
  nowMs += 200;
  return load.report({ utilization }, nowMs);
};

it('is busy from the first report without idle time, and counts from the report before', () => {
  expect(report(0.5)).toBe('idles');
  expect(load.busyMs(nowMs)).toBe(0);
  report(0.99);
  report(1);
  expect(load.busyMs(nowMs)).toBe(400);
});

it('has become busy when that has lasted for a second, once', () => {
  const changes = Array.from({ length: 8 }, () => report(1));
  expect(changes).toEqual([...Array<undefined>(4), 'became_busy', ...Array<undefined>(3)]);
  expect(report(0.1)).toBe('idles');
  expect(Array.from({ length: 5 }, () => report(1)).at(-1)).toBe('became_busy');
});

it('stays busy until a fifth of the time is idle', () => {
  report(0.96);
  expect(report(0.85)).toBeUndefined();
  expect(load.busyMs(nowMs)).toBe(400);
  expect(report(0.79)).toBe('idles');
  expect(load.busyMs(nowMs)).toBe(0);
  expect(report(0.94)).toBe('idles');
});

it('is busy when it is silent', () => {
  report(0.1);
  expect(load.noteSilence(nowMs + 600)).toBeUndefined();
  expect(load.busyMs(nowMs + 600)).toBe(0);
  expect(load.noteSilence(nowMs + 601)).toBeUndefined();
  expect(load.busyMs(nowMs + 800)).toBe(800);
  expect(load.noteSilence(nowMs + 1_000)).toBe('became_busy');
  expect(load.noteSilence(nowMs + 1_200)).toBeUndefined();
});

it('is not busy because of runs that begin later', () => {
  expect(load.mayBeReason(startMs)).toBe(false);
  report(1);
  expect(load.mayBeReason(startMs)).toBe(true);
  expect(load.mayBeReason(startMs + 200)).toBe(true);
  expect(load.mayBeReason(startMs + 201)).toBe(false);
});

it('is not busy when a run begins after a pause', () => {
  report(1);
  nowMs += 60_000;
  load.begin(nowMs);
  expect(load.busyMs(nowMs)).toBe(0);
});

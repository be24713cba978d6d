import { beforeEach, expect, it } from 'vitest';
import { EventLoopLoad } from './event-loop-load.ts';

let load: EventLoopLoad;
let nowMs: number;
beforeEach(() => {
  load = new EventLoopLoad();
  nowMs = 10_000;
  load.begin(nowMs);
});
const report = (utilization: number) => {
  nowMs += 200;
  return load.report({ utilization }, nowMs);
};

it('is busy from the first report without idle time, and counts from the report before', () => {
  expect(report(0.5)).toBe('idles');
  expect(load.busyMs(nowMs)).toBe(0);
  expect(report(0.99)).toBe('became_busy');
  expect(report(1)).toBeUndefined();
  expect(load.busyMs(nowMs)).toBe(400);
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
  expect(load.noteSilence(nowMs + 601)).toBe('became_busy');
  expect(load.noteSilence(nowMs + 800)).toBeUndefined();
  expect(load.busyMs(nowMs + 800)).toBe(800);
});

it('is not busy when a run begins after a pause', () => {
  report(1);
  nowMs += 60_000;
  load.begin(nowMs);
  expect(load.busyMs(nowMs)).toBe(0);
});

import { beforeEach, describe, expect, it } from 'vitest';
import { Admission } from './admission.ts';

const onTime = { delayMs: 2, isHeapFull: false };
const reportMs = 200;

let admission: Admission;
let nowMs: number;
beforeEach(() => {
  admission = new Admission({ least: 10, most: 500 });
  nowMs = 1_000;
  admission.begin(nowMs);
});
/** The executor reports, and then has as many runs as it may have. */
const report = (running: number, values: { delayMs: number; isHeapFull?: boolean }): number => {
  nowMs += reportMs;
  admission.report({ running, isHeapFull: false, ...values }, nowMs);
  return Math.max(running, admission.slots(running, nowMs));
};

describe('an executor', () => {
  it('that is idle is given a hundred runs', () => {
    expect(admission.slots(0, nowMs)).toBe(100);
    expect(admission.slots(40, nowMs)).toBe(100);
  });

  it('that is on time is given a hundred more with each report, up to the limit', () => {
    const given = [100];
    for (let reports = 0; reports < 5; reports++) given.push(report(given.at(-1)!, onTime));
    expect(given).toEqual([100, 200, 300, 400, 500, 500]);
  });

  it('that is late at its first report is given no more than ten', () => {
    report(2, { delayMs: 200 });
    expect(admission.slots(2, nowMs)).toBe(10);
    report(100, { delayMs: 5_000 });
    expect(admission.slots(100, nowMs)).toBeLessThan(160);
  });

  it('that is late is given runs as long as they only wait', () => {
    const given = [report(4, { delayMs: 200 })];
    while (given.at(-1)! < 500) given.push(report(given.at(-1)!, { delayMs: 220 }));
    expect(given.slice(0, 6)).toEqual([10, 60, 110, 165, 248, 372]);
  });

  it('that is late is given no more runs when those that were added compute', () => {
    let running = report(4, { delayMs: 200 });
    for (let reports = 0; reports < 10; reports++) running = report(running, { delayMs: running * 50 });
    expect(running).toBeLessThanOrEqual(60);
    expect(admission.slots(9, nowMs)).toBe(10);
  });

  it('is given many again when it is on time, which takes less delay than to be late', () => {
    let running = report(4, { delayMs: 200 });
    for (let reports = 0; reports < 10; reports++) running = report(running, { delayMs: running * 50 });
    report(8, { delayMs: 60 });
    expect(admission.slots(8, nowMs)).toBe(10);
    report(8, { delayMs: 40 });
    expect(admission.slots(8, nowMs)).toBe(108);
  });

  it('that is silent is given no more than ten until it reports', () => {
    report(4, onTime);
    expect(admission.slots(4, nowMs + 599)).toBe(104);
    expect(admission.slots(4, nowMs + 601)).toBe(10);
    nowMs += 1_000;
    expect(report(4, onTime)).toBe(104);
  });

  it('whose heap is nearly full is given no more than ten', () => {
    expect(report(50, { ...onTime, isHeapFull: true })).toBe(50);
    expect(admission.slots(5, nowMs)).toBe(10);
  });

  it('has the largest number as its capacity while it is on time', () => {
    report(4, onTime);
    expect(admission.capacity(4, nowMs)).toBe(500);
    report(4, { delayMs: 200 });
    expect(admission.capacity(4, nowMs)).toBe(10);
  });

  it('with a fixed number is always given that number', () => {
    admission = new Admission({ least: 7, most: 7 });
    admission.begin(nowMs);
    const given = [admission.slots(0, nowMs), admission.slots(3, nowMs + 60_000)];
    report(3, { delayMs: 9_000, isHeapFull: true });
    expect([...given, admission.slots(3, nowMs)]).toEqual([7, 7, 7]);
  });

  it('of a node that executes no runs is given none', () => {
    expect(new Admission({ least: 0, most: 0 }).slots(0, nowMs)).toBe(0);
  });
});

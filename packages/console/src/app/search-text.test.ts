import { describe, expect, it } from 'vitest';
import {
  formatSearch,
  idOf,
  manyOf,
  oneOf,
  parseSearch,
  rejectedOf,
  timeRangeOf,
  timeOf,
} from './search-text.ts';

describe('a query string', () => {
  it('repeats a parameter that is a list, and contains no JSON', () => {
    const text = formatSearch({ status: ['error', 'timeout'], graph: 'agent', thread: undefined });
    expect(text).toBe('?status=error&status=timeout&graph=agent');
    expect(parseSearch(text)).toEqual({ status: ['error', 'timeout'], graph: 'agent' });
  });

  it('is empty when no parameter has a value', () => {
    expect(formatSearch({ status: [], graph: '', sel: undefined })).toBe('');
  });

  it('loses values that the page does not know', () => {
    const raw = parseSearch('?status=error&status=broken&sort=up&thread=../x');
    expect(manyOf(['error', 'success'])(raw, 'status')).toEqual(['error']);
    expect(oneOf('asc', 'desc')(raw, 'sort')).toBeUndefined();
    expect(idOf(raw, 'thread')).toBeUndefined();
  });

  it('keeps times that have a zone, and loses others', () => {
    const raw = parseSearch('?from=2026-11-26T15:05:00%2B01:00&to=2026-11-26&since=2026-13-26T00:00:00Z');
    expect(timeOf(raw, 'from')).toBe('2026-11-26T14:05:00.000Z');
    expect(timeOf(raw, 'to')).toBeUndefined();
    expect(timeOf(raw, 'since')).toBeUndefined();
  });

  it('keeps a range with one or two ends, and drops a reversed or empty range', () => {
    const [earlier, later] = ['2026-11-26T14:05:00.000Z', '2026-11-26T14:06:00.000Z'];
    const none = { from: undefined, to: undefined };
    expect(timeRangeOf({ from: earlier, to: later })).toEqual({ from: earlier, to: later });
    expect(timeRangeOf({ from: later })).toEqual({ from: later, to: undefined });
    expect(timeRangeOf({ to: earlier })).toEqual({ from: undefined, to: earlier });
    expect(timeRangeOf({ from: later, to: earlier })).toEqual(none);
    expect(timeRangeOf({ from: later, to: '2026-11-26T15:06:00+01:00' })).toEqual(none);
  });

  it('names the parameters that a page has not taken over, also after they were named', () => {
    const raw = parseSearch('?status=error&status=eror&since=3h&graph=agent&tread=x&sort=');
    const search = { status: ['error'], since: undefined, graph: 'agent' };
    const rejected = ['status=eror', 'since=3h', 'tread=x'];
    expect(rejectedOf(raw, search)).toEqual(rejected);
    expect(rejectedOf(parseSearch(formatSearch({ ...search, rejected })), search)).toEqual(rejected);
    expect(rejectedOf({ graph: 'agent', thread: undefined, rejected: undefined }, search)).toBeUndefined();
  });
});

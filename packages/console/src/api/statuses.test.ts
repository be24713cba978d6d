import { expect, it } from 'vitest';
import { traceOutcome } from './statuses.ts';

it('a trace whose error is that of a cancelled run is cancelled, and others have their status', () => {
  expect(traceOutcome({ status: 'error', error: 'RunCancelled: The run was cancelled' })).toBe('cancelled');
  expect(traceOutcome({ status: 'error', error: 'TypeError: RunCancelled' })).toBe('error');
  expect(traceOutcome({ status: 'error', error: null })).toBe('error');
  expect(traceOutcome({ status: 'success', error: null })).toBe('success');
});

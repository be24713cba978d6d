import { expect, it } from 'vitest';
import { parseFromExecutor } from './executor-message.ts';

const attempt = { run_id: '7', lease_token: 1 };
const error = { error: 'TypeError', message: 'no' };

it.each([
  { kind: 'ready' },
  { kind: 'answer', call: 1, value: { any: 'thing' } },
  { kind: 'answer', call: 1, problem: { code: 'invalid', message: 'no' } },
  { kind: 'events', ...attempt, first_id: 0, events: [['custom', '1']] },
  { kind: 'done', ...attempt, status: 'success', values: '{}', error: null },
  { kind: 'done', ...attempt, status: 'error', error },
  { kind: 'lost', ...attempt, message: 'gone', isOutage: true },
  { kind: 'drained', ...attempt },
  { kind: 'aborted', ...attempt, error },
  { kind: 'aborted', ...attempt, error: null },
  { kind: 'event_loop', running: 3, delayMs: 0.4, utilization: 0.5, isHeapFull: false, silentMs: 0 },
  { kind: 'flush_trouble', trouble: 'repeated' },
  { kind: 'log', line: '{}', dropped: 0 },
])('%j is a valid message of an executor', (message) => {
  expect(parseFromExecutor(message)).toEqual(message);
});

it.each([
  'ready',
  7,
  null,
  undefined,
  [],
  { hello: 1 },
  { kind: 'modules', files: 'agent.ts' },
  { kind: 'modules', files: ['agent.ts'] },
  { kind: 'log', line: {}, dropped: 0 },
  { kind: 'log', line: '{}', dropped: -1 },
  { kind: 'answer', call: '1' },
  { kind: 'answer', call: 1, problem: 'no' },
  { kind: 'events', first_id: 0, events: [] },
  { kind: 'events', ...attempt, first_id: -1, events: [] },
  { kind: 'events', ...attempt, first_id: 0, events: [['custom', 1]] },
  { kind: 'events', ...attempt, first_id: 0, events: [null] },
  { kind: 'done', ...attempt, status: 'finished', error: null },
  { kind: 'done', ...attempt, status: 'error', error: 'no' },
  { kind: 'done', ...attempt, status: 'success', values: {}, error: null },
  { kind: 'aborted', ...attempt },
  { kind: 'flush_trouble', trouble: 'other' },
  { kind: 'event_loop', running: 3, delayMs: NaN, utilization: 0.5, isHeapFull: false, silentMs: 0 },
  { kind: 'event_loop', running: 1, delayMs: 1, utilization: 0.5, isHeapFull: false, silentMs: -1 },
  { kind: 'event_loop', running: -1, delayMs: 1, utilization: 0.5, isHeapFull: false, silentMs: 0 },
  { kind: 'event_loop', running: 1, delayMs: 1, utilization: NaN, isHeapFull: false, silentMs: 0 },
  { kind: 'event_loop', running: 3, delayMs: 1, utilization: 0.5 },
  { kind: 'lost', ...attempt },
  { kind: 'lost', ...attempt, message: 'gone' },
  { kind: 'lost', run_id: 7, lease_token: 1, message: 'gone', isOutage: true },
])('%j is rejected', (message) => {
  expect(parseFromExecutor(message)).toBeUndefined();
});

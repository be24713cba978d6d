import type { RunTimeline } from '@svc/sdk';
import { expect, it } from 'vitest';
import { omissions, shareText, toTimelineTable } from './timeline-rows.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

const timeline = (changes: Partial<RunTimeline> = {}): RunTimeline => ({
  run_id: 'run',
  thread_id: 'thread',
  status: 'success',
  read_at: at(100),
  created_at: at(0),
  ended_at: at(10),
  waits: [{ reason: 'thread', from: at(0), to: at(2), run_id: 'other' }],
  attempts: [{ attempt: 1, from: at(2), to: at(10), outcome: 'ended' }],
  attempts_omitted: 0,
  steps: [
    { checkpoint_id: '1', step: -1, source: 'input', nodes: [], from: at(2), to: at(2) },
    { checkpoint_id: '2', step: 0, source: 'loop', nodes: ['model', 'tools'], from: at(2), to: at(9) },
  ],
  has_earlier_steps: false,
  executing: [],
  ...changes,
});
const seconds = (run: RunTimeline) => {
  const { rows, startMs } = toTimelineTable(run);
  return rows.map(({ label, fromMs, toMs }) => [label, (fromMs - startMs) / 1_000, (toMs - startMs) / 1_000]);
};

it('has waits, attempts and steps in the order of time', () => {
  expect(seconds(timeline())).toEqual([
    ['Waited for a run of the thread', 0, 2],
    ['Attempt 1', 2, 10],
    ['Input', 2, 2],
    ['model, tools', 2, 9],
  ]);
  expect(toTimelineTable(timeline()).rows[0]?.runId).toBe('other');
});

it('has the share of the whole time of waits and steps', () => {
  const shares = (run: RunTimeline) => {
    const table = toTimelineTable(run);
    return table.rows.map((row) => shareText(row, table));
  };
  expect(shares(timeline())).toEqual(['20 %', undefined, '0 %', '70 %']);
  expect(shares(timeline({ waits: [{ reason: 'slot', from: at(0), to: at(0.05) }] }))[0]).toBe('< 1 %');
  const momentary = timeline({
    attempts: [],
    steps: [],
    waits: [{ reason: 'slot', from: at(0), to: at(0) }],
  });
  expect(shares(momentary)).toEqual([undefined]);
});

it('says that an attempt was cancelled', () => {
  const notes = (run: RunTimeline) =>
    toTimelineTable(run).rows.flatMap(({ kind, note }) => (kind === 'attempt' ? [note] : []));
  expect(notes(timeline({ status: 'interrupted' }))).toEqual(['cancelled']);
  expect(notes(timeline())).toEqual([undefined]);
});

it('ends what goes on at the time of the server', () => {
  const pending = timeline({
    status: 'pending',
    ended_at: undefined,
    waits: [{ reason: 'slot', from: at(0) }],
    attempts: [],
    steps: [],
  });
  const { rows } = toTimelineTable(pending);
  expect(seconds(pending)).toEqual([['Waits for a worker with a free slot', 0, 100]]);
  expect(rows[0]?.isOpen).toBe(true);
});

it('names the nodes that execute, since the last step', () => {
  const running = timeline({
    status: 'running',
    ended_at: undefined,
    attempts: [{ attempt: 1, from: at(2), outcome: 'executing' }],
    executing: ['search'],
  });
  expect(seconds(running).at(-1)).toEqual(['search', 9, 100]);
  expect(seconds({ ...running, steps: [], executing: [] }).at(-1)).toEqual(['Starts', 2, 100]);
});

it('names the nodes in which a run has stopped', () => {
  const stopped = timeline({ status: 'interrupted', executing: ['search'] });
  expect(seconds(stopped).at(-1)).toEqual(['search', 9, 10]);
  expect(toTimelineTable(stopped).rows.at(-1)).toMatchObject({ note: 'stopped here', isOpen: false });
  const failed = timeline({ status: 'error', executing: ['search'] });
  expect(toTimelineTable(failed).rows.at(-1)).toMatchObject({ note: 'failed here', isFailed: true });
});

it('has no row that ends before it begins, when the clock of the worker is ahead of that of the database', () => {
  const running = timeline({
    status: 'running',
    read_at: at(8),
    ended_at: undefined,
    attempts: [{ attempt: 1, from: at(2), outcome: 'executing' }],
    steps: [
      { checkpoint_id: '1', step: -1, source: 'input', nodes: [], from: at(9), to: at(8) },
      { checkpoint_id: '2', step: 0, source: 'loop', nodes: ['model'], from: at(9), to: at(10) },
    ],
    executing: ['search'],
  });
  expect(seconds(running).slice(2)).toEqual([
    ['Input', 9, 9],
    ['model', 9, 10],
    ['search', 10, 10],
  ]);
});

it('says why an attempt was lost', () => {
  const { rows } = toTimelineTable(
    timeline({
      attempts: [
        { attempt: 1, from: at(2), to: at(3), outcome: 'lost', message: 'gone', charged: false },
        { attempt: 1, from: at(4), to: at(10), outcome: 'ended' },
      ],
    }),
  );
  const attempts = rows.filter(({ kind }) => kind === 'attempt');
  expect(attempts).toMatchObject([
    { label: 'Attempt 1, lost, not charged', note: 'gone', isFailed: true },
    { label: 'Attempt 1', isFailed: false },
  ]);
});

it('has no length for a run of which only the creation is known', () => {
  const { rows, startMs, endMs } = toTimelineTable(timeline({ waits: [], attempts: [], steps: [] }));
  expect([rows, endMs - startMs]).toEqual([[], 0]);
});

it('says what it leaves out', () => {
  expect(omissions(timeline())).toEqual([]);
  expect(omissions(timeline({ attempts_omitted: 2, has_earlier_steps: true }))).toEqual([
    '2 more attempts ended without a record.',
    'Only the newest 1,000 steps are shown.',
  ]);
});

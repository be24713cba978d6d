import { uuid6 } from '@langchain/langgraph-checkpoint';
import { describe, expect, it } from 'vitest';
import { checkpointTimeMs } from '../../engine/checkpoints/checkpoint-ids.ts';
import type { LostAttempt } from '../../storage/deployment/runs/run-rows.ts';
import type { TimedRun } from '../../storage/deployment/runs/run-timeline.ts';
import { attemptsOf, nextOf, omittedOf, stepsOf, waitsOf } from './run-timeline-service.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

const run = (changes: Partial<TimedRun>): TimedRun => ({
  run_id: 'run',
  thread_id: 'thread',
  status: 'success',
  attempt: 1,
  lease_token: 1,
  created_at: at(0),
  not_before: at(0),
  started_at: at(10),
  ended_at: at(20),
  read_at: at(100),
  lost_attempts: [],
  ...changes,
});
const lost = (attempt: Omit<LostAttempt, 'lease_token' | 'worker'>): LostAttempt => ({
  ...attempt,
  lease_token: attempt.attempt,
  worker: 'gone',
});
const other = (started: number, ended: number | null) => ({
  run_id: `${started}`,
  started_at: at(started),
  ended_at: ended === null ? null : at(ended),
});
const waits = (changes: Partial<TimedRun>, others: ReturnType<typeof other>[] = []) => {
  const timed = run(changes);
  return waitsOf(timed, attemptsOf(timed), others);
};

describe('the waits of a run', () => {
  it('are none when it started at once', () => {
    expect(waits({ started_at: at(0) })).toEqual([]);
  });

  it('are for its delay, then for the last run of the thread, then for a slot', () => {
    expect(waits({ not_before: at(2) }, [other(-5, 4), other(5, 7)])).toEqual([
      { reason: 'time', from: at(0), to: at(2) },
      { reason: 'thread', from: at(2), to: at(7), run_id: '5' },
      { reason: 'slot', from: at(7), to: at(10) },
    ]);
  });

  it('are not for runs that executed before its creation, or after its start', () => {
    expect(waits({}, [other(-5, -1), other(21, null)])).toEqual([
      { reason: 'slot', from: at(0), to: at(10) },
    ]);
  });

  it('have no end while the run is pending', () => {
    const pending = { status: 'pending', started_at: null, ended_at: null, attempt: 0 } as const;
    expect(waits(pending)).toEqual([{ reason: 'slot', from: at(0) }]);
    expect(waits(pending, [other(-5, null)])).toEqual([{ reason: 'thread', from: at(0), run_id: '-5' }]);
    expect(waits({ ...pending, not_before: at(500) })).toEqual([{ reason: 'time', from: at(0) }]);
  });

  it('end with a run that was cancelled before it started', () => {
    expect(waits({ status: 'interrupted', started_at: null, attempt: 0 })).toEqual([
      { reason: 'slot', from: at(0), to: at(20) },
    ]);
  });

  it('follow each lost attempt', () => {
    const lost_attempts = [
      lost({ attempt: 1, started_at: at(1), at: at(3), message: 'lost', charged: true }),
      lost({ attempt: 2, started_at: at(4), at: at(6), message: 'lost', charged: false }),
    ];
    expect(waits({ lost_attempts, attempt: 2 })).toEqual([
      { reason: 'slot', from: at(0), to: at(1) },
      { reason: 'slot', from: at(3), to: at(4) },
      { reason: 'slot', from: at(6), to: at(10) },
    ]);
    expect(waits({ lost_attempts, status: 'pending', ended_at: null }).at(-1)).toEqual({
      reason: 'slot',
      from: at(6),
    });
  });
});

describe('the attempts of a run', () => {
  it('are those that were lost, and the current one', () => {
    const lost_attempts = [
      lost({ attempt: 1, started_at: at(1), at: at(3), message: 'gone', charged: true }),
    ];
    const running = run({ lost_attempts, attempt: 2, status: 'running', ended_at: null });
    expect(attemptsOf(running)).toEqual([
      { attempt: 1, from: at(1), to: at(3), outcome: 'lost', message: 'gone', charged: true },
      { attempt: 2, from: at(10), outcome: 'executing' },
    ]);
    expect(attemptsOf({ ...running, status: 'pending' })).toHaveLength(1);
  });

  it('do not name the last one twice, when it was lost and the run ended while it waited', () => {
    const lost_attempts = [
      lost({ attempt: 1, started_at: at(10), at: at(15), message: 'gone', charged: true }),
    ];
    const exhausted = run({ lost_attempts, status: 'error', lease_token: 2 });
    const attempts = attemptsOf(exhausted);
    expect(attempts).toMatchObject([{ outcome: 'lost', from: at(10), to: at(15) }]);
    expect(waitsOf(exhausted, attempts, []).at(-1)).toEqual({ reason: 'slot', from: at(15), to: at(20) });
    expect(omittedOf(exhausted, attempts)).toBe(0);
  });

  it('omit those of which nothing was recorded', () => {
    const once = run({ lease_token: 3 });
    expect(omittedOf(once, attemptsOf(once))).toBe(2);
    const cancelled = run({ status: 'interrupted', started_at: null, lease_token: 1 });
    expect(omittedOf(cancelled, attemptsOf(cancelled))).toBe(0);
  });

  it('are none before the first start', () => {
    expect(attemptsOf(run({ status: 'pending', started_at: null, ended_at: null }))).toEqual([]);
  });
});

describe('the steps of a run', () => {
  const checkpoint = (changes: object = {}) => ({
    checkpoint_id: uuid6(0),
    step: 0,
    source: 'loop',
    wrote: null,
    shape: null,
    planned: null,
    is_first: true,
    ...changes,
  });

  it('begin with the checkpoint before them, and name the nodes once each', () => {
    const first = checkpoint({ step: -1, source: 'input' });
    const second = checkpoint({ wrote: '[["model","messages","1"],["tools",null,"2"],["model","n","3"]]' });
    const times = [first, second].map(({ checkpoint_id: id }) =>
      new Date(checkpointTimeMs(id) ?? Number.NaN).toISOString(),
    );
    expect(stepsOf([second, first], [])).toEqual([
      {
        checkpoint_id: first.checkpoint_id,
        step: -1,
        source: 'input',
        nodes: [],
        from: times[0],
        to: times[0],
      },
      {
        checkpoint_id: second.checkpoint_id,
        step: 0,
        source: 'loop',
        nodes: ['model', 'tools'],
        from: times[0],
        to: times[1],
      },
    ]);
  });

  it('name nodes that have written nothing, as the checkpoint before has planned them', () => {
    const input = checkpoint({ step: -1, source: 'input', planned: '["earlier"]' });
    const second = checkpoint({ wrote: '[["model","messages","1"]]', planned: '["model","slow"]' });
    expect(stepsOf([second, input], []).map(({ nodes }) => nodes)).toEqual([[], ['model', 'slow']]);
  });

  it('begin with the attempt that executed them, when that is later', () => {
    const only = checkpoint();
    const before = new Date((checkpointTimeMs(only.checkpoint_id) ?? 0) - 5_000).toISOString();
    const [step] = stepsOf([only], [{ attempt: 1, from: before, outcome: 'executing' }]);
    expect(step?.from).toBe(before);
  });

  it('are followed by the tasks of the newest checkpoint', () => {
    expect(nextOf(undefined)).toEqual([]);
    expect(nextOf(checkpoint())).toEqual([]);
    const shape = JSON.stringify({
      tasks: [
        { id: '1', name: 'a' },
        { id: '2', name: 'a' },
        { id: '3', name: 'b' },
      ],
    });
    expect(nextOf(checkpoint({ shape }))).toEqual(['a', 'b']);
  });
});

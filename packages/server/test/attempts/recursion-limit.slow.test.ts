// The recursion limit counts the supersteps of a run over all of its attempts.
import { fileURLToPath } from 'node:url';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() =>
  startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) }),
);
const client = fixture(() => createClient({ apiUrl: server.url }));

interface Case {
  limit: number;
  goal: number;
  /** The steps in which attempts are lost. */
  exits: number[];
  /** Whether the run starts from a checkpoint of an earlier run. */
  isLater?: boolean;
}

/** Executes a run; returns its outcome and what it has stored. */
const outcomeOf = async ({ limit, goal, exits, isLater = false }: Case) => {
  const { thread_id } = await client.threads.create();
  if (isLater) await client.runs.wait(thread_id, 'steps', { input: { goal: 2, exits: [], done: 0 } });
  const done = isLater ? -2 : 0;
  const { run_id } = await client.runs.create(thread_id, 'steps', {
    input: { goal, exits, done },
    config: { recursion_limit: limit },
    durability: 'sync',
  });
  await client.runs.join(thread_id, run_id).catch(() => undefined);
  const { status, attempt, error } = await client.runs.get(thread_id, run_id);
  const history = await client.threads.getHistory(thread_id, { limit: 100 });
  // Only the stack tells whether the limit was reached in the engine or before a later attempt.
  const reason = error && { error: error.error, message: error.message };
  return { attempt, left: { status, reason, values: history[0]?.values, checkpoints: history.length } };
};

describe('a run that loses attempts', () => {
  it.each<Case>([
    { limit: 4, goal: 3, exits: [1] },
    { limit: 4, goal: 4, exits: [1] },
    { limit: 4, goal: 4, exits: [3] },
    { limit: 4, goal: 5, exits: [1] },
    { limit: 4, goal: 9, exits: [2] },
    { limit: 4, goal: 9, exits: [3] },
    { limit: 4, goal: 9, exits: [0, 3] },
    { limit: 6, goal: 9, exits: [2, 4] },
    { limit: 4, goal: 9, exits: [2], isLater: true },
    { limit: 4, goal: 4, exits: [2], isLater: true },
  ])('ends as the same run without lost attempts: limit $limit, goal $goal, exits $exits', async (one) => {
    const undisturbed = await outcomeOf({ ...one, exits: [] });
    const { attempt, left } = await outcomeOf(one);
    expect(attempt).toBe(one.exits.length + 1);
    const { exits: _, ...values } = left.values as Record<string, unknown>;
    const { exits: _same, ...expected } = undisturbed.left.values as Record<string, unknown>;
    expect({ ...left, values }).toEqual({ ...undisturbed.left, values: expected });
  });

  it('does not take another step when the lost attempt took the last one', async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'survey', {
      input: { plan: { hold: 'close' } },
      config: { recursion_limit: 10 },
      durability: 'sync',
    });
    await eventually(async () => expect(await client.store.get(['waiting'], run_id)).toBeTruthy());
    // Older engines start a step before the checkpoint of the last one is stored, also with durability "sync".
    const before = await eventually(async () => {
      const state = await client.threads.getState(thread_id);
      expect(state.next).toEqual(['close']);
      return state;
    });
    // As if the attempt had been lost between its last step and its end.
    const text = `update runs set kwargs = replace(kwargs, '"recursion_limit":10', '"recursion_limit":1') where run_id = $1`;
    await server.database.query({ name: 'lower', text }, [run_id]);
    await client.store.put(['barriers'], run_id, { exit: 1 });
    await client.runs.join(thread_id, run_id).catch(() => undefined);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({
      status: 'error',
      lost_attempts: [{ attempt: 1 }],
      error: {
        error: 'GraphRecursionError',
        message: expect.stringContaining('limit of 1 reached') as string,
      },
    });
    expect((await client.threads.getState(thread_id)).checkpoint_id).toBe(before.checkpoint_id);
  });
});

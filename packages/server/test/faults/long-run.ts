// A run that executes during a fault, and its outcome.
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { sendOnce } from './caller.ts';
import type { SvcNode } from './node-process.ts';

export interface LongRun {
  thread_id: string;
  run_id: string;
}

/** Starts a run and waits until more than three steps are committed. */
export const startLongRun = async (
  node: SvcNode,
  steps: number,
  assistant_id: 'journal' | 'keeper' = 'journal',
): Promise<LongRun> => {
  const thread = await sendOnce(node.url, { method: 'POST', path: '/threads', body: {} });
  const { thread_id } = thread.body as { thread_id: string };
  const created = await sendOnce(node.url, {
    method: 'POST',
    path: `/threads/${thread_id}/runs`,
    body: {
      assistant_id,
      input: { marker: 'long', steps, ms: 100, taken: 0 },
      config: { recursion_limit: 1_000 },
    },
  });
  const { run_id } = created.body as { run_id: string };
  await eventually(async () => {
    const { body } = await sendOnce(node.url, { method: 'GET', path: `/threads/${thread_id}/state` });
    expect((body as { values: { taken: number } }).values.taken).toBeGreaterThan(3);
  });
  return { thread_id, run_id };
};

export const untilOver = (node: SvcNode, { thread_id, run_id }: LongRun) =>
  eventually(async () => {
    const { body } = await sendOnce(node.url, {
      method: 'GET',
      path: `/threads/${thread_id}/runs/${run_id}`,
    });
    expect(body).toMatchObject({ status: 'success' });
    return body as { attempt: number; lost_attempts: unknown[] };
  }, 60_000);

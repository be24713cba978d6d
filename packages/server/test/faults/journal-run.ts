// Single runs of the journal graph, for scenarios with their own load.
import { randomUUID } from 'node:crypto';
import type { Answer, RequestSpec } from './caller.ts';
import type { Stage } from './scenario.ts';

export interface JournalRun {
  thread_id: string;
  run_id: string;
  marker: string;
}

export interface RunRecord {
  status: string;
  attempt: number;
  lost_attempts?: { message: string; charged?: boolean }[];
  error?: { error: string; message: string };
}

export interface JournalPlan {
  steps: number;
  /** Milliseconds of each step. */
  ms: number;
  thread_id?: string;
  /** Additional fields of the request that creates the run. */
  more?: object;
}

export const journalRequest = (
  { steps, ms, thread_id = randomUUID(), more }: JournalPlan,
  kind = '',
  { marker = randomUUID().slice(0, 8), file }: { marker?: string; file?: string } = {},
): RequestSpec & { thread_id: string; marker: string } => ({
  method: 'POST',
  path: `/threads/${thread_id}/runs${kind}`,
  headers: { 'idempotency-key': marker },
  body: {
    assistant_id: 'journal',
    if_not_exists: 'create',
    input: { marker, steps, ms, taken: 0, ...(file === undefined ? {} : { file }) },
    metadata: { marker, steps },
    config: { recursion_limit: 1_000 },
    ...more,
  },
  thread_id,
  marker,
});

/** Starts a run in the background, on a new thread by default. */
export const startJournal = async (
  { caller, history, file }: Pick<Stage, 'caller' | 'history' | 'file'>,
  plan: JournalPlan,
): Promise<JournalRun> => {
  const request = journalRequest(plan, '', { file });
  const { thread_id, marker } = request;
  const answer = await caller.call(request);
  if (answer.status !== 200) throw new Error(`The run was not made: ${JSON.stringify(answer.body)}`);
  const { run_id } = answer.body as { run_id: string };
  history.add({ op: 'run', thread_id, run_id, marker, steps: plan.steps, strategy: 'enqueue' });
  return { thread_id, run_id, marker };
};

export const pathOf = ({ thread_id, run_id }: Pick<JournalRun, 'thread_id' | 'run_id'>): string =>
  `/threads/${thread_id}/runs/${run_id}`;

/** Starts a run of another graph. */
export const startRun = async (
  { caller }: Pick<Stage, 'caller'>,
  assistant_id: string,
  input: object,
  { thread_id = randomUUID(), more }: { thread_id?: string; more?: object } = {},
): Promise<{ thread_id: string; run_id: string }> => {
  const answer = await caller.call({
    method: 'POST',
    path: `/threads/${thread_id}/runs`,
    headers: { 'idempotency-key': randomUUID() },
    body: { assistant_id, input, if_not_exists: 'create', ...more },
  });
  if (answer.status !== 200) throw new Error(`The run was not made: ${JSON.stringify(answer.body)}`);
  return { thread_id, run_id: (answer.body as { run_id: string }).run_id };
};

export const getRun = async (
  { caller }: Pick<Stage, 'caller'>,
  run: Pick<JournalRun, 'thread_id' | 'run_id'>,
): Promise<RunRecord> => (await caller.call({ method: 'GET', path: pathOf(run) })).body as RunRecord;

/** Waits for the outcome, at any node that responds. */
export const join = (
  { caller }: Pick<Stage, 'caller'>,
  run: Pick<JournalRun, 'thread_id' | 'run_id'>,
): Promise<Answer> =>
  caller.call({ method: 'GET', path: `${pathOf(run)}/join`, tryMs: 20_000, totalMs: 60_000 });

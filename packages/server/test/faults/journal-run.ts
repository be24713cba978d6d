// Single runs of the journal graph, for scenarios with their own load.
import { randomUUID } from 'node:crypto';
import type { LostAttempt } from '../../src/storage/deployment/runs/run-rows.ts';
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
  lost_attempts?: LostAttempt[];
  error?: { error: string; message: string };
}

export interface JournalPlan {
  steps: number;
  /** Milliseconds of each step. */
  ms: number;
  thread_id?: string;
  /** Path of a file: no step ends before it exists. */
  gate?: string;
  /** Additional fields of the request that creates the run. */
  more?: object;
}

export const journalRequest = (
  { steps, ms, thread_id = randomUUID(), gate, more }: JournalPlan,
  kind = '',
  { marker = randomUUID().slice(0, 8), file }: { marker?: string; file?: string } = {},
): RequestSpec & { thread_id: string; marker: string } => ({
  method: 'POST',
  path: `/threads/${thread_id}/runs${kind}`,
  headers: { 'idempotency-key': marker },
  body: {
    assistant_id: 'journal',
    if_not_exists: 'create',
    input: { marker, steps, ms, taken: 0, file, gate },
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

/** The attempts of a run that were lost with this lease: one if it was lost. */
export const lostWith = ({ lost_attempts = [] }: RunRecord, lease_token: number): LostAttempt[] =>
  lost_attempts.filter((lost) => lost.lease_token === lease_token);

/** The nodes that execute runs now, by name. */
export const busyNodes = async ({ cluster }: Pick<Stage, 'cluster'>): Promise<string[]> => {
  const rows = await cluster.query<{ node: string }>(
    `select distinct c.node from faults.claims c join runs r using (run_id, lease_token)
     where r.status = 'running' order by c.node`,
  );
  return rows.map(({ node }) => node);
};

/** Waits for the outcome, at any node that responds. */
export const join = (
  { caller }: Pick<Stage, 'caller'>,
  run: Pick<JournalRun, 'thread_id' | 'run_id'>,
): Promise<Answer> =>
  caller.call({ method: 'GET', path: `${pathOf(run)}/join`, tryMs: 20_000, totalMs: 60_000 });

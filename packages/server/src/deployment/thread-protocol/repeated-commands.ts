// Retries of commands that start runs. Clients number their commands, and repeat a command whose response they did not get with the same
// number and the same parameters. But each client begins with the same numbers, and a user may send the same message again. So a command is
// taken for a repetition while the run that the same command started is in flight and not older than a minute; after that it starts another
// run. Clients that need more send an Idempotency-Key.
//
// The id of the run is derived from the command, so of two that arrive at the same time one creates the run. Later equal commands take the
// next of a few derived ids.
import { createHash } from 'node:crypto';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import { runIdOf } from '../runs/run-request.ts';

export interface StartingCommand {
  thread_id: string;
  /** The identity of the caller; undefined without custom authentication. */
  identity: string | undefined;
  id: number;
  method: string;
  params: unknown;
  /** The Idempotency-Key. */
  given: string | undefined;
}

const repeatedWithinMs = 60_000;
const derivedIds = 16;

/** `run_id`: the run that the command has started already. `key`: for a new run; undefined when all derived ids are used. */
export interface CommandKey {
  key: string | undefined;
  run_id: string | undefined;
}

export const commandKey = async (
  runs: Pick<RunStorage, 'listRepeatable'>,
  { thread_id, identity, id, method, params, given }: StartingCommand,
): Promise<CommandKey> => {
  if (given !== undefined) return givenKey(runs, thread_id, identity, `command ${method} ${given}`);
  const hash = createHash('sha256')
    .update(JSON.stringify([id, method, params]))
    .digest('hex');
  const keys = Array.from({ length: derivedIds }, (_, at) => `command ${hash} ${at}`);
  const ids = keys.map((key) => runIdOf(key, thread_id, identity));
  const known = new Map((await runs.listRepeatable(ids, repeatedWithinMs)).map((run) => [run.run_id, run]));
  for (const [at, run_id] of ids.entries()) {
    const run = known.get(run_id);
    if (run === undefined) return { key: keys[at], run_id: undefined };
    if (run.is_repeatable) return { key: keys[at], run_id };
  }
  return { key: undefined, run_id: undefined };
};

/** A key from the client names one run, also after the run has ended. */
const givenKey = async (
  runs: Pick<RunStorage, 'listRepeatable'>,
  thread_id: string,
  identity: string | undefined,
  key: string,
): Promise<CommandKey> => {
  const [known] = await runs.listRepeatable([runIdOf(key, thread_id, identity)], repeatedWithinMs);
  return { key, run_id: known?.run_id };
};

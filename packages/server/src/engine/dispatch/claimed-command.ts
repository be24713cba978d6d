// Builds the command that starts a claimed run, or the error with which the run ends because it cannot start.
import type { RunEventStream } from '../streams/run-event-stream.ts';
import type { ClaimedSetting } from '../../storage/deployment/runs/run-leases.ts';
import type { RunRow } from '../../storage/deployment/runs/run-rows.ts';
import type { RunError, RunCommand } from './protocol.ts';
import { toRunCommand } from './run-command.ts';

/** Decrypts the stored user of a run and returns it as keys of `configurable`. Throws when it cannot be decrypted. */
export interface UserKeys {
  open(sealed: string | null, metadata: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

export const claimedCommand = (
  run: RunRow,
  setting: ClaimedSetting | undefined,
  stream: RunEventStream | undefined,
  users: UserKeys,
): RunCommand | RunError => {
  if (!setting) return { error: 'AssistantGone', message: 'The assistant of this run was deleted' };
  let keys: Record<string, unknown>;
  try {
    keys = users.open(setting.sealed_user, run.metadata);
  } catch (error) {
    // A run is never executed without the user that created it.
    return {
      error: 'UserUnreadable',
      message: `The user of this run cannot be decrypted: ${(error as Error).message}`,
    };
  }
  const firstId = Math.max(stream?.nextId ?? 0, setting.next_event_id ?? 0);
  const { log, webhook } = setting;
  return toRunCommand({ ...run, log, webhook }, setting, stream ?? {}, { keys, firstId });
};

/** The row is that of a claim. Undefined for a run that was given back without a lost attempt: since when it waits is not stored. */
export const waitedMsOf = ({
  lease_token,
  lost_attempts,
  created_at,
  updated_at,
}: RunRow): number | undefined => {
  const lost = lost_attempts.at(-1);
  const since = lease_token === 1 ? created_at : lost?.lease_token === lease_token - 1 ? lost.at : undefined;
  return since === undefined ? undefined : Math.max(0, Date.parse(updated_at) - Date.parse(since));
};

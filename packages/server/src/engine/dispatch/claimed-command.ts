// What a claimed run needs to start, or why it cannot.
import type { RunEventStream } from '../streams/run-event-stream.ts';
import type { ClaimedSetting } from '../../storage/deployment/run-leases.ts';
import type { RunRow } from '../../storage/deployment/runs.ts';
import type { RunError, RunCommand } from './protocol.ts';
import { toRunCommand } from './run-command.ts';

/** Opens what a graph sees of the user that a run acts for; throws when it cannot. */
export interface UserKeys {
  open(sealed: string | null, metadata: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

export const claimedCommand = (
  run: RunRow,
  setting: ClaimedSetting | undefined,
  stream: RunEventStream | undefined,
  users: UserKeys,
): RunCommand | RunError => {
  if (!setting) return { error: 'AssistantGone', message: 'The assistant of this run is gone' };
  let keys: Record<string, unknown>;
  try {
    keys = users.open(setting.sealed_user, run.metadata);
  } catch (error) {
    // Its user is part of what it is: without one it would be another run.
    return {
      error: 'UserUnreadable',
      message: `The user of this run cannot be read: ${(error as Error).message}`,
    };
  }
  const firstId = Math.max(stream?.nextId ?? 0, setting.next_event_id ?? 0);
  const { log, webhook } = setting;
  return toRunCommand({ ...run, log, webhook }, setting, stream ?? {}, { keys, firstId });
};

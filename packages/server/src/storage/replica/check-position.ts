// When a replica may be used, by its position.
import { ReplicaUnusable } from './fallback.ts';
import { hasSameHistory, type StandbyPosition, type WalHistory } from './wal-position.ts';

/** Throws ReplicaUnusable unless the server is a standby with the history of the primary. */
export const checkHistory = (position: StandbyPosition, primary: WalHistory): void => {
  if (!position.is_standby) throw new ReplicaUnusable('not_standby', 'The replica is not a standby');
  if (!hasSameHistory(position, primary))
    throw new ReplicaUnusable('other_history', 'The replica does not follow the history of the primary');
};

/** True when the replica has replayed everything up to a position of the primary. */
export const hasReplayed = ({ replayed }: StandbyPosition, target: bigint): boolean =>
  replayed !== null && replayed >= target;

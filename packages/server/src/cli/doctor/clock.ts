// The clock of this machine, compared with that of the database. svc uses the clock of the database for leases and schedules; signatures
// for buckets, tokens and the times of traces depend on the clock of this machine.
import type { InstallationStorage } from '../../storage/postgres/installation.ts';
import { duration } from '../output/quantities.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

const warningMs = 5_000;
/** S3 refuses signatures that are 15 minutes off. */
const problemMs = 900_000;

/** `now`: the clock of this machine. */
export const checkClock = async (
  database: Pick<InstallationStorage, 'nowMs'>,
  now: () => number = Date.now,
): Promise<Outcome> => {
  const before = now();
  const databaseMs = await database.nowMs();
  const after = now();
  // The database has read its clock between the two.
  const aheadMs = before > databaseMs ? before - databaseMs : Math.min(0, after - databaseMs);
  const message = `The clock of this machine is ${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of the database.`;
  const remedy = 'Synchronize the clocks of both machines, for example with chrony or systemd-timesyncd.';
  if (Math.abs(aheadMs) >= problemMs) return problem(message, remedy);
  if (Math.abs(aheadMs) >= warningMs) return warning(message, remedy);
  return ok(`The clocks of this machine and of the database differ by less than ${warningMs / 1_000} s.`);
};

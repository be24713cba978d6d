// Invariants that hold after any fault, by the name under which a violation is reported.
import { everyRequestCreatedOneRun, nothingAcknowledgedIsLost } from './acknowledged.ts';
import { checkpointsAreOneChain, headsAreNewest, onlyLeaseHoldersWrote } from './checkpoints.ts';
import { mostRequestsWereServed, noUnexpectedErrors } from './conduct.ts';
import {
  cancelledRunsWriteNothing,
  deletedThreadsLeaveNothing,
  rollbackRemovesOneRun,
} from './ended-early.ts';
import type { Checker, Evidence } from './evidence.ts';
import { logsMatchCheckpoints } from './log.ts';
import { markersAppearOnceInOrder, readersAgree } from './state.ts';
import { streamsAreComplete } from './streams.ts';
import { everythingHasEnded, noThreadIsStuck, oneRunningRunPerThread } from './threads.ts';

export const invariants = {
  everythingHasEnded,
  nothingAcknowledgedIsLost,
  everyRequestCreatedOneRun,
  noThreadIsStuck,
  oneRunningRunPerThread,
  onlyLeaseHoldersWrote,
  checkpointsAreOneChain,
  headsAreNewest,
  readersAgree,
  markersAppearOnceInOrder,
  streamsAreComplete,
  logsMatchCheckpoints,
  cancelledRunsWriteNothing,
  rollbackRemovesOneRun,
  deletedThreadsLeaveNothing,
  noUnexpectedErrors,
  mostRequestsWereServed,
} satisfies Record<string, Checker>;

export type Invariant = keyof typeof invariants;

/** Checks all invariants but `except`; returns the violations, each with the name of its invariant. */
export const violations = async (evidence: Evidence, except: Invariant[] = []): Promise<string[]> => {
  const found: string[] = [];
  for (const [name, check] of Object.entries(invariants)) {
    if (except.includes(name as Invariant)) continue;
    for (const wrong of await check(evidence)) found.push(`${name}: ${wrong}`);
  }
  return found;
};

// What holds after any fault, by the name under which a violation is reported.
import { everyRequestMadeOneRun, nothingAcknowledgedIsLost } from './acknowledged.ts';
import { checkpointsAreOneChain, headsAreNewest, onlyTheHolderWrote } from './checkpoints.ts';
import { mostRequestsWereServed, nobodyWasToldNonsense } from './conduct.ts';
import {
  cancelledRunsStayQuiet,
  deletedThreadsLeaveNothing,
  rollbackTakesBackOneRun,
} from './ended-early.ts';
import type { Checker, Evidence } from './evidence.ts';
import { logsMatchCheckpoints } from './log.ts';
import { markersStandOnceAndInOrder, readersAgree } from './state.ts';
import { streamsAreWhole } from './streams.ts';
import { everythingHasEnded, noThreadIsStuck, oneRunGoesOnPerThread } from './threads.ts';

export const invariants = {
  everythingHasEnded,
  nothingAcknowledgedIsLost,
  everyRequestMadeOneRun,
  noThreadIsStuck,
  oneRunGoesOnPerThread,
  onlyTheHolderWrote,
  checkpointsAreOneChain,
  headsAreNewest,
  readersAgree,
  markersStandOnceAndInOrder,
  streamsAreWhole,
  logsMatchCheckpoints,
  cancelledRunsStayQuiet,
  rollbackTakesBackOneRun,
  deletedThreadsLeaveNothing,
  nobodyWasToldNonsense,
  mostRequestsWereServed,
} satisfies Record<string, Checker>;

export type Invariant = keyof typeof invariants;

/** All of them but `except`; what is wrong, each with the name of what it violates. */
export const violations = async (evidence: Evidence, except: Invariant[] = []): Promise<string[]> => {
  const found: string[] = [];
  for (const [name, check] of Object.entries(invariants)) {
    if (except.includes(name as Invariant)) continue;
    for (const wrong of await check(evidence)) found.push(`${name}: ${wrong}`);
  }
  return found;
};

// The interrupts that a run answers, from what its row stores: readers on all nodes find the same.
import type { RunKwargs } from '../../engine/dispatch/protocol.ts';
import { namesInterrupts } from '../../engine/dispatch/resume-value.ts';
import type { RunAnswer } from '../../storage/deployment/run-sequence.ts';
import { pendingIds } from './pending-ids.ts';

/** Ids of the interrupts that the run's command resumes, in the order of the command or of the thread. */
export const answeredInterrupts = ({ kwargs, found_interrupts }: RunAnswer): string[] => {
  const { command, checkpoint } = JSON.parse(kwargs) as RunKwargs;
  const resume = command?.resume;
  if (resume === undefined || resume === null) return [];
  if (namesInterrupts(resume)) return Object.keys(resume);
  // The interrupts of another checkpoint are not those of the thread.
  if (checkpoint?.checkpoint_id !== undefined || found_interrupts === null) return [];
  return [...pendingIds(found_interrupts)];
};

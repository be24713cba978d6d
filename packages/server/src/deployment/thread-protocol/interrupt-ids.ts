import type { RunKwargs } from '../../engine/dispatch/protocol.ts';
import { namesInterrupts } from '../../engine/dispatch/resume-value.ts';
import type { RunAnswer } from '../../storage/deployment/runs/run-sequence.ts';

/** Ids of the interrupts that a run has left. `interrupts`: lists by task, as a JSON text. */
export const pendingIds = (interrupts: string): Set<string> => {
  const byTask = JSON.parse(interrupts) as Record<string, { id?: string }[]>;
  return new Set(Object.values(byTask).flatMap((list) => list.flatMap(({ id }) => id ?? [])));
};

/**
 * Ids of the interrupts that the run's command resumes, in the order of the command or of the thread. They come from what its row stores, so
 * that readers on all nodes find the same.
 */
export const answeredInterrupts = ({ kwargs, found_interrupts }: RunAnswer): string[] => {
  const { command, checkpoint } = JSON.parse(kwargs) as RunKwargs;
  const resume = command?.resume;
  if (resume === undefined || resume === null) return [];
  if (namesInterrupts(resume)) return Object.keys(resume);
  // The interrupts of another checkpoint are not those of the thread.
  if (checkpoint?.checkpoint_id !== undefined || found_interrupts === null) return [];
  return [...pendingIds(found_interrupts)];
};

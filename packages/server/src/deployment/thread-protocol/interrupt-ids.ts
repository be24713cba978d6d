// Ids of interrupts: those that a thread waits at, and those that a run answers.
import { isAnswer, namedInterrupts } from '../../engine/dispatch/resume-value.ts';
import type { RunKwargs } from '../../engine/dispatch/protocol.ts';
import type { RunAnswer } from '../../storage/deployment/run-sequence.ts';

/** Ids in the interrupts of a thread: lists by tasks, as JSON text. */
export const interruptIds = (interrupts: string): Set<string> => {
  const byTask = JSON.parse(interrupts) as Record<string, { id?: string }[]>;
  return new Set(Object.values(byTask).flatMap((list) => list.flatMap(({ id }) => id ?? [])));
};

/**
 * The interrupts that a run answers, of those that the thread waited at when the run began. Those at which it waits again after the run, such
 * as a cancelled one, are left out: clients would hide them.
 */
export const answeredInterrupts = ({ kwargs, found_interrupts, left_interrupts }: RunAnswer): string[] => {
  const resume = (JSON.parse(kwargs) as RunKwargs).command?.resume;
  if (!isAnswer(resume)) return [];
  const found = [...interruptIds(found_interrupts)];
  const named = namedInterrupts(resume);
  const left = interruptIds(left_interrupts);
  return found.filter((id) => (named?.includes(id) ?? true) && !left.has(id));
};

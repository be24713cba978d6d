// Channel `input`: one `input.requested` for each interrupt. The engine reports an interrupt several times: in `tasks`, `updates` and
// `values`, of the graph that was interrupted and of each graph around it. The first report counts; its namespace is the innermost graph.
import { isRecord } from '../../../json/is-record.ts';
import type { LoggedEvent, ProtocolEvent } from './protocol-event.ts';
import { type RunKwargs, hasInterruptIds } from '../../../engine/dispatch/protocol.ts';
import type { RunAnswer } from '../../../storage/deployment/runs/run-sequence.ts';

const reported = ({ name, data }: LoggedEvent): unknown => {
  if (!isRecord(data)) return undefined;
  return name === 'tasks' ? data['interrupts'] : data['__interrupt__'];
};

export class InterruptEvents {
  readonly #known = new Set<string>();
  #isInterrupted = false;

  /** True when the root graph has stopped at an interrupt or at a breakpoint. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  take(event: LoggedEvent): ProtocolEvent[] {
    const interrupts = reported(event);
    if (!Array.isArray(interrupts)) return [];
    // A breakpoint is reported as an empty list.
    if (event.namespace.length === 0 && event.name !== 'tasks') this.#isInterrupted = true;
    return interrupts.filter(isRecord).flatMap((interrupt) => {
      const { id, value } = interrupt;
      if (typeof id !== 'string' || this.#known.has(id)) return [];
      this.#known.add(id);
      return {
        channel: 'input' as const,
        method: 'input.requested',
        namespace: event.namespace,
        data: { interrupt_id: id, payload: value ?? null },
        key: `input.${id}`,
        isOnce: true as const,
      };
    });
  }
}

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
  if (hasInterruptIds(resume)) return Object.keys(resume);
  // The interrupts of another checkpoint are not those of the thread.
  if (checkpoint?.checkpoint_id !== undefined || found_interrupts === null) return [];
  return [...pendingIds(found_interrupts)];
};

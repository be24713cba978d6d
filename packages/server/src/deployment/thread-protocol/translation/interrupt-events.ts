// Channel `input`: one `input.requested` for each interrupt. The engine reports an interrupt several times: in `tasks`, `updates` and
// `values`, of the graph that was interrupted and of each graph around it. The first report counts; its namespace is the innermost graph.
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { LoggedEvent, ProtocolEvent } from './protocol-event.ts';

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

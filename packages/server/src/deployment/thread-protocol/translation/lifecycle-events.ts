// Channel `lifecycle`, without the events of the run itself: each task of a graph is a namespace, which starts and ends.
import { isRecord } from '../../../engine/codec/tagged.ts';
import { textOr, type LoggedEvent, type ProtocolEvent } from './protocol-event.ts';

/** The namespace of a task: that of its graph, and the task. */
export const taskNamespace = ({ namespace, data }: LoggedEvent): string[] | undefined => {
  if (!isRecord(data) || typeof data['id'] !== 'string') return undefined;
  return [...namespace, `${textOr(data['name'], '')}:${data['id']}`];
};

/** A `tasks` event is the result of the task, not its start. */
export const isTaskResult = ({ data }: LoggedEvent): boolean =>
  isRecord(data) && ('result' in data || 'error' in data);

export class LifecycleEvents {
  /** Tasks that have started and not ended. A lost attempt leaves its tasks here, and the next one continues them under the same ids. */
  readonly #open = new Map<string, readonly string[]>();

  /** Whether the start of the task is known. */
  isOpen(namespace: readonly string[]): boolean {
    return this.#open.has(namespace.join('|'));
  }

  take(event: LoggedEvent): ProtocolEvent[] {
    const namespace = taskNamespace(event);
    if (namespace === undefined) return [];
    const key = namespace.join('|');
    if (!isTaskResult(event)) {
      if (this.#open.has(key)) return [];
      this.#open.set(key, namespace);
      return [lifecycle(namespace, { event: 'started' })];
    }
    if (!this.#open.delete(key)) return [];
    return [lifecycle(namespace, outcomeOf(event.data as Record<string, unknown>))];
  }

  /** Ends all open tasks, inner ones first. */
  endAll(data: object): ProtocolEvent[] {
    const open = [...this.#open.values()].toReversed();
    this.#open.clear();
    return open.map((namespace) => lifecycle(namespace, data));
  }
}

const lifecycle = (namespace: readonly string[], data: object): ProtocolEvent => ({
  channel: 'lifecycle',
  method: 'lifecycle',
  namespace,
  data: { ...data, graph_name: namespace.at(-1)?.split(':', 1)[0] ?? '' },
  key: `lifecycle.${namespace.join('|')}`,
});

const outcomeOf = ({ error, interrupts }: Record<string, unknown>): object => {
  if (error !== null && error !== undefined) {
    const message = isRecord(error) ? textOr(error['message'], JSON.stringify(error)) : error;
    return { event: 'failed', error: typeof message === 'string' ? message : JSON.stringify(message) };
  }
  const isInterrupted = Array.isArray(interrupts) && interrupts.length > 0;
  return { event: isInterrupted ? 'interrupted' : 'completed' };
};

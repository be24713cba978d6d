// Channel `lifecycle`, without the events of the run itself: namespaces that start and end. For JavaScript clients, each task of a graph is one: they
// find the subgraphs among the tasks. Python clients take each namespace for a subgraph, so they get the subgraphs alone.
import { isRecord } from '../../../json/is-record.ts';
import type { Dialect } from './dialect.ts';
import { textOr, type LoggedEvent, type ProtocolEvent } from './protocol-event.ts';

/** The namespace of a task: that of its graph, and the task. */
export const taskNamespace = ({ namespace, data }: LoggedEvent): string[] | undefined => {
  if (!isRecord(data) || typeof data['id'] !== 'string') return undefined;
  return [...namespace, `${textOr(data['name'], '')}:${data['id']}`];
};

/** A `tasks` event is the result of the task, not its start. */
export const isTaskResult = ({ data }: LoggedEvent): boolean =>
  isRecord(data) && ('result' in data || 'error' in data);

/** Events whose namespace is that of a graph. The namespaces of other events may be those of nodes. */
const eventsOfGraphs: ReadonlySet<string> = new Set(['values', 'checkpoint_refs', 'tasks']);
const separator = '|';

export class LifecycleEvents {
  readonly #dialect: Dialect;
  /** Tasks that have started and not ended. A lost attempt leaves its tasks here, and the next one continues them under the same ids. */
  readonly #tasks = new Set<string>();
  /** Namespaces whose start was reported, and not their end. */
  readonly #reported = new Map<string, readonly string[]>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Whether the start of the task is known. */
  isOpen(task: readonly string[]): boolean {
    return this.#tasks.has(task.join(separator));
  }

  /** Called before each event: the first one of a subgraph is its start. Without the start of its task, the log has been cut and begins later. */
  beginGraph(kind: string, namespace: readonly string[]): ProtocolEvent[] {
    const mayBegin = this.#dialect === 'python' && namespace.length > 0 && eventsOfGraphs.has(kind);
    return mayBegin && this.#isExecuted(namespace) ? this.#begin(namespace) : [];
  }

  /** Takes the start or the result of a task. */
  take(event: LoggedEvent): ProtocolEvent[] {
    const namespace = taskNamespace(event);
    if (namespace === undefined) return [];
    const task = namespace.join(separator);
    if (!isTaskResult(event)) {
      this.#tasks.add(task);
      return this.#dialect === 'javascript' ? this.#begin(namespace) : [];
    }
    this.#tasks.delete(task);
    const isWithin = (key: string): boolean => key === task || key.startsWith(task + separator);
    return this.#end(isWithin, outcomeOf(event.data as Record<string, unknown>));
  }

  /** Ends all namespaces. */
  endAll(data: object): ProtocolEvent[] {
    this.#tasks.clear();
    return this.#end(() => true, data);
  }

  /** A task may execute several subgraphs: those after the first have a number below the namespace of the task. */
  #isExecuted(namespace: readonly string[]): boolean {
    const last = namespace.findLastIndex((segment) => segment.includes(':'));
    return this.isOpen(namespace.slice(0, last + 1));
  }

  #begin(namespace: readonly string[]): ProtocolEvent[] {
    const key = namespace.join(separator);
    if (this.#reported.has(key)) return [];
    this.#reported.set(key, namespace);
    return [lifecycle(namespace, { event: 'started' })];
  }

  /** Inner namespaces end first. */
  #end(isEnded: (key: string) => boolean, data: object): ProtocolEvent[] {
    const ended = [...this.#reported].filter(([key]) => isEnded(key)).toReversed();
    for (const [key] of ended) this.#reported.delete(key);
    return ended.map(([, namespace]) => lifecycle(namespace, data));
  }
}

/** The last segment is a number for another subgraph of the same task. */
const graphName = (namespace: readonly string[]): string =>
  (namespace.findLast((segment) => segment.includes(':')) ?? '').split(':', 1)[0] ?? '';

const lifecycle = (namespace: readonly string[], data: object): ProtocolEvent => ({
  channel: 'lifecycle',
  method: 'lifecycle',
  namespace,
  data: { ...data, graph_name: graphName(namespace) },
  key: `lifecycle.${namespace.join(separator)}`,
});

const outcomeOf = ({ error, interrupts }: Record<string, unknown>): object => {
  if (error !== null && error !== undefined) {
    const message = isRecord(error) ? textOr(error['message'], JSON.stringify(error)) : error;
    return { event: 'failed', error: typeof message === 'string' ? message : JSON.stringify(message) };
  }
  const isInterrupted = Array.isArray(interrupts) && interrupts.length > 0;
  return { event: isInterrupted ? 'interrupted' : 'completed' };
};

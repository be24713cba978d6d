// Stream mode `lifecycle`: an event when a subgraph starts, and when it ends.
import { isRecord } from '../../../json/is-record.ts';
import type { RunError } from '../../dispatch/protocol.ts';
import { eventName } from './stream-modes.ts';

interface Task {
  id: string;
  name: string;
  input?: unknown;
  error?: unknown;
  interrupts?: readonly unknown[];
}

const modesOfGraphs: ReadonlySet<string> = new Set(['values', 'checkpoints', 'tasks']);
const separator = '|';

export class SubgraphLifecycle {
  readonly #emit: (event: string, data: object) => void;
  /** Namespaces of the subgraphs that have started and not ended, by their texts. */
  readonly #open = new Map<string, readonly string[]>();
  /** Ids of tool calls, by the namespaces of the tasks that execute them. */
  readonly #toolCalls = new Map<string, string>();

  constructor(emit: (event: string, data: object) => void) {
    this.#emit = emit;
  }

  /** Takes every chunk of the engine. The first chunk of a subgraph is its start; the result of the task that executes it is its end. */
  chunk(namespace: readonly string[], mode: string, payload: unknown): void {
    // The namespaces of other chunks may be those of nodes.
    if (!modesOfGraphs.has(mode)) return;
    const key = namespace.join(separator);
    if (namespace.length > 0 && !this.#open.has(key)) {
      this.#open.set(key, namespace);
      this.#report(namespace, { event: 'started' });
    }
    if (mode === 'tasks') this.#task(namespace, payload as Task);
  }

  /** Ends the subgraphs that are open when the run ends. Without an error, the run waits for an answer or was cancelled. */
  end(error: RunError | null): void {
    this.#endBelow('', error ? { event: 'failed', error } : { event: 'interrupted' });
  }

  #task(namespace: readonly string[], task: Task): void {
    const key = [...namespace, `${task.name}:${task.id}`].join(separator);
    if (!('result' in task) && !('error' in task)) {
      const call = isRecord(task.input) ? task.input['lg_tool_call'] : undefined;
      if (isRecord(call) && typeof call['id'] === 'string') this.#toolCalls.set(key, call['id']);
      return;
    }
    this.#endBelow(key, outcomeOf(task));
    this.#toolCalls.delete(key);
  }

  /** Inner subgraphs end first. */
  #endBelow(key: string, outcome: object): void {
    for (const [open, namespace] of [...this.#open].toReversed()) {
      if (key !== '' && open !== key && !open.startsWith(key + separator)) continue;
      this.#open.delete(open);
      this.#report(namespace, outcome);
    }
  }

  #report(namespace: readonly string[], outcome: object): void {
    const call = namespace
      .map((_, at) => this.#toolCalls.get(namespace.slice(0, at + 1).join(separator)))
      .findLast((id) => id !== undefined);
    this.#emit(eventName('lifecycle', namespace), {
      ...outcome,
      namespace,
      ...(call === undefined ? {} : { tool_call_id: call }),
    });
  }
}

const outcomeOf = ({ error, interrupts }: Task): object => {
  if (error !== undefined && error !== null) return { event: 'failed', error: failureOf(error) };
  return { event: (interrupts?.length ?? 0) > 0 ? 'interrupted' : 'completed' };
};

const failureOf = (error: unknown): RunError => {
  const { name, message } = isRecord(error) ? error : { name: undefined, message: error };
  return {
    error: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : JSON.stringify(message),
  };
};

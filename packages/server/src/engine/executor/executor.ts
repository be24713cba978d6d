// Handles the messages that an executor process receives.
import { Problem } from '@svc/contract/problem';
import type {
  AnsweredProblem,
  IntrospectCommand,
  LoadReport,
  StoreIndexCommand,
  ToExecutor,
} from '../dispatch/protocol.ts';
import { parseRunCommand } from '../dispatch/run-command.ts';
import { boundedText, messageOf } from '../codec/bounded-text.ts';
import { EmbeddingError } from './store/embedding-model.ts';
import { introspect } from './graphs/introspection.ts';
import { EventLoopMonitor } from './event-loop-monitor.ts';
import { RunExecution } from './runs/run-execution.ts';
import type { RunTools } from './runs/run-tools.ts';
import { updateState } from './state/state-update.ts';
import { PythonGraph } from '../python/python-graph.ts';
import { importThread } from '../thread-import/thread-import.ts';

export class Executor {
  readonly #tools: RunTools;
  readonly #running = new Map<string, RunExecution>();
  readonly #eventLoop: EventLoopMonitor;
  /** Calls that have not been answered. */
  #calls = 0;

  constructor(tools: RunTools) {
    this.#tools = tools;
    this.#eventLoop = new EventLoopMonitor(
      (report) => tools.send({ kind: 'event_loop', ...report }),
      tools.pythonLoop,
    );
  }

  receive(message: Exclude<ToExecutor, { kind: 'setup' | 'address' }>): void {
    switch (message.kind) {
      case 'run':
        return this.#run(
          new RunExecution(parseRunCommand(message.command), this.#tools),
          keyOf(message.command),
        );
      case 'cancel':
        return this.#running.get(keyOf(message))?.stop(message.why);
      case 'drain':
        return this.#running.get(keyOf(message))?.drain();
      case 'inputs':
        return this.#running.get(keyOf(message))?.takeInputs();
      case 'listen':
        return this.#running.get(keyOf(message))?.listen(message.logged);
      case 'unlisten':
        return this.#running.get(keyOf(message))?.unlisten();
      case 'ack':
        return this.#running.get(keyOf(message))?.acknowledge(message.bytes);
      case 'update':
        return this.#answer(message.call, () => updateState(message.command, this.#tools));
      case 'flush':
        return this.#answer(message.call, async () => this.#tools.tracing?.outbox.flush());
      case 'load':
        return this.#answer(message.call, () => this.#load());
      case 'store_index':
        return this.#answer(message.call, () => this.#askStoreIndex(message.command));
      case 'import_thread':
        return this.#answer(message.call, () => importThread(message.command, this.#tools));
      case 'introspect':
        return this.#answer(message.call, () => this.#introspect(message.command));
    }
  }

  #run(execution: RunExecution, key: string): void {
    this.#running.set(key, execution);
    this.#noteWork();
    void execution.run().finally(() => {
      this.#running.delete(key);
      this.#noteWork();
    });
  }

  #noteWork(): void {
    this.#eventLoop.setRunning(this.#running.size, this.#calls);
  }

  async #load(): Promise<LoadReport> {
    const { graphs, storeIndex } = this.#tools;
    const [report, store_index] = await Promise.all([
      graphs.loadAll(),
      storeIndex?.load().then(() => undefined, messageOf),
    ]);
    return store_index === undefined ? report : { ...report, store_index };
  }

  async #askStoreIndex(command: StoreIndexCommand): Promise<unknown> {
    const { storeIndex } = this.#tools;
    if (!storeIndex) throw new Problem('not_supported', 'The store has no index: set store.index');
    if (command.task === 'rank') return storeIndex.rank(command.search, command.access);
    const [vectors] = await storeIndex.embed([
      { value: JSON.parse(command.value) as unknown, index: command.index },
    ]);
    return vectors;
  }

  async #introspect(command: IntrospectCommand): Promise<unknown> {
    const graph = await this.#tools.graphs.get(command.graph_id, command.config, 'assistants.read');
    return graph instanceof PythonGraph ? graph.introspect(command) : introspect(graph, command);
  }

  #answer(call: number, work: () => Promise<unknown>): void {
    this.#calls += 1;
    this.#noteWork();
    void work()
      .then(
        (value) => this.#tools.send({ kind: 'answer', call, value }),
        (thrown: unknown) => this.#tools.send({ kind: 'answer', call, problem: problemOf(thrown) }),
      )
      .finally(() => {
        this.#calls -= 1;
        this.#noteWork();
      });
  }
}

/** Identifies an attempt: an earlier attempt of the run may still be stopping when the next begins. */
const keyOf = ({ run_id, lease_token }: { run_id: string; lease_token: number }): string =>
  `${run_id} ${lease_token}`;

/** Errors of a graph concern the request, such as an unknown node or an impossible update, so their code is `invalid`. */
const problemOf = (thrown: unknown): AnsweredProblem => {
  if (thrown instanceof EmbeddingError) return { code: 'unavailable', message: boundedText(thrown.message) };
  if (!(thrown instanceof Problem)) return { code: 'invalid', message: messageOf(thrown) };
  const { code, message, faults } = thrown;
  return { code, message: boundedText(message), ...(faults && { faults }) };
};

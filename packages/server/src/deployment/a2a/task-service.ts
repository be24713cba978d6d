// The methods of the A2A protocol on tasks. They call the auth handlers of runs: threads:create_run to send, threads:read to read,
// threads:update to cancel.
import type { Logger } from 'pino';
import type { Call, EventStreamResponse } from '../../api/handlers.ts';
import type { RpcId } from '../../api/json-rpc.ts';
import type { AgentTaskRow, AgentTaskStorage } from '../../storage/deployment/runs/agent-tasks.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { RunCanceller } from '../runs/run-canceller.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import { readAccess } from '../threads/read-access.ts';
import { unlessGone } from '../unless-gone.ts';
import { a2aError, taskNotFound } from './a2a-error.ts';
import type { Agent } from './agent-finder.ts';
import { type AgentTask, type Dialect, isActive, isTerminal } from './agent-task.ts';
import { type HistoryView, historyView, type ListParams, type SentMessage } from './params.ts';
import { stateOnly, type TaskReader } from './task-reader.ts';
import type { SentTask, TaskSender } from './task-sender.ts';
import { taskStream } from './task-stream.ts';
import { taskOf } from './wire.ts';

export interface TaskServiceParts {
  sender: TaskSender;
  reader: TaskReader;
  tasks: AgentTaskStorage;
  outcomes: Pick<RunOutcomeReader, 'subscribe' | 'untilEnded'>;
  canceller: Pick<RunCanceller, 'cancel'>;
  logger: Logger;
}

interface AgentCall {
  assistant_id: string;
  call: Call;
  history: HistoryView;
}

interface Streaming {
  id: RpcId;
  dialect: Dialect;
  history: HistoryView;
}

const pageDefault = 50;

export class TaskService {
  readonly #parts: TaskServiceParts;

  constructor(parts: TaskServiceParts) {
    this.#parts = parts;
  }

  /** Resolves when the message is accepted. `task` resolves when the task has ended or needs input; without `isBlocking`, at once. */
  async send(
    message: SentMessage,
    agent: Agent,
    { history, call, isBlocking }: { history: HistoryView; call: Call; isBlocking: boolean },
  ): Promise<{ task: Promise<AgentTask> }> {
    const sent = await this.#parts.sender.send(message, agent, call, {});
    const ended = isBlocking ? this.#parts.outcomes.untilEnded(sent.run_id) : Promise.resolve();
    sent.created?.release();
    const { assistant_id } = agent.assistant;
    return {
      task: ended.then(async () => {
        const row = await this.#row(sent.task_id, assistant_id, sent.access);
        return this.#parts.reader.read(row, { history, artifacts: true }, sent.access);
      }),
    };
  }

  /** Sends a message and streams its task. */
  async stream(
    message: SentMessage,
    agent: Agent,
    { call, ...streaming }: Streaming & { call: Call },
  ): Promise<EventStreamResponse> {
    const { logger, sender } = this.#parts;
    const { assistant_id } = agent.assistant;
    const sent = await sender.send(message, agent, call, { streamed: true });
    const { created, task_id, run_id, access } = sent;
    if (created === undefined) return this.#follow(task_id, { ...streaming, assistant_id, access });
    const subscription = created.stream.subscribe();
    created.release();
    const result = () => this.#result(task_id, { ...streaming, assistant_id, access });
    return taskStream({ ...streaming, task: newTask(sent, message), run_id, subscription, result }, logger);
  }

  /** Streams a task from its current state on. */
  async subscribe(
    taskId: string,
    { assistant_id, call, ...streaming }: AgentCall & Streaming,
  ): Promise<EventStreamResponse> {
    const access = await readAccess(call.authorizer, {});
    const row = await this.#row(taskId, assistant_id, access);
    if (isTerminal(row.state))
      throw a2aError('UNSUPPORTED_OPERATION', `Task ${row.task_id} has ended: ${row.state}`);
    return this.#follow(row.task_id, { ...streaming, assistant_id, access });
  }

  async get(taskId: string, { assistant_id, call, history }: AgentCall): Promise<AgentTask> {
    const access = await readAccess(call.authorizer, {});
    const row = await this.#row(taskId, assistant_id, access);
    return this.#parts.reader.read(row, { history, artifacts: true }, access);
  }

  async cancel(taskId: string, { assistant_id, call, history }: AgentCall): Promise<AgentTask> {
    const action = 'interrupt';
    const requested = { thread_id: undefined, metadata: undefined, action } as const;
    const { access } = await call.authorizer.authorize('threads:update', requested);
    const { task_id, thread_id, run_id, state } = await this.#row(taskId, assistant_id, access);
    const over = (now: string) =>
      a2aError('UNSUPPORTED_OPERATION', `Task ${task_id} cannot be cancelled: ${now}`);
    if (!isActive(state)) throw over(state);
    await this.#parts.canceller.cancel(thread_id, run_id, { action, wait: true, access }).catch(unlessGone);
    const row = await this.#row(task_id, assistant_id, access);
    if (row.state !== 'canceled') throw over(row.state);
    return this.#parts.reader.read(row, { history, artifacts: true }, access);
  }

  /** The tasks of a context, newest first, as JSON of A2A 1.0. */
  async list(
    params: ListParams,
    {
      assistant_id,
      call,
      scope,
    }: { assistant_id: string; call: Call; scope: HistoryView['scope'] | undefined },
  ): Promise<object> {
    const access = await readAccess(call.authorizer, { thread_id: params.contextId });
    const limit = params.pageSize || pageDefault;
    const offset = Number(params.pageToken ?? 0);
    const updatedSince = params.statusTimestampAfter ?? undefined;
    const { rows, total } = await this.#parts.tasks.list(
      params.contextId.toLowerCase(),
      assistant_id,
      { state: params.status, updatedSince, limit, offset },
      access,
    );
    const history = historyView({ ...params, historyLength: params.historyLength ?? 0 }, scope);
    const view = { history, artifacts: params.includeArtifacts === true };
    const tasks: object[] = [];
    for (const row of rows) tasks.push(taskOf(await this.#parts.reader.read(row, view, access), '1.0'));
    const next = offset + rows.length;
    return { tasks, nextPageToken: next < total ? String(next) : '', pageSize: limit, totalSize: total };
  }

  /** The stream of an existing task. */
  async #follow(
    task_id: string,
    streaming: Streaming & { assistant_id: string; access: RowFilter },
  ): Promise<EventStreamResponse> {
    const { assistant_id, access } = streaming;
    const { outcomes, reader, logger } = this.#parts;
    const { thread_id, run_id } = await this.#row(task_id, assistant_id, access);
    const subscription = await outcomes.subscribe(thread_id, run_id, access);
    try {
      // Read after the subscription has begun, so that an end between the two is not missed.
      const row = await this.#row(task_id, assistant_id, access);
      const isOver = !isActive(row.state);
      const task = await reader.read(row, { history: streaming.history, artifacts: isOver }, access);
      if (isOver) subscription.close();
      const result = () => this.#result(task_id, streaming);
      const feed = { ...streaming, task, run_id, result, subscription: isOver ? undefined : subscription };
      return taskStream(feed, logger);
    } catch (error) {
      subscription.close();
      throw error;
    }
  }

  /** The task at the end of its stream, with artifacts. Without history, because the client has it already. */
  async #result(
    task_id: string,
    { assistant_id, access }: { assistant_id: string; access: RowFilter },
  ): Promise<AgentTask | undefined> {
    const row = await this.#parts.reader.find(task_id, assistant_id, access);
    return row && this.#parts.reader.read(row, { ...stateOnly, artifacts: true }, access);
  }

  async #row(taskId: string, assistant_id: string, access: RowFilter): Promise<AgentTaskRow> {
    const row = await this.#parts.reader.find(taskId, assistant_id, access);
    if (row === undefined) throw taskNotFound(taskId);
    return row;
  }
}

/** The task of a new run. */
const newTask = (sent: SentTask, { parts }: SentMessage): AgentTask => {
  const { task_id, thread_id, messageId } = sent;
  const of = { contextId: thread_id, taskId: task_id };
  return {
    id: task_id,
    contextId: thread_id,
    status: { state: 'submitted', timestamp: new Date().toISOString() },
    artifacts: [],
    history: [{ messageId, role: 'user', parts, ...of }],
  };
};

// Starts a run for a message. If the same message is sent again, its run is found by the messageId, and no other run is started.
import { createHash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { RunCreate } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Call } from '../../api/handlers.ts';
import type { Audience } from '../../engine/dispatch/run-command.ts';
import { messageKey, taskKey } from '../../storage/deployment/runs/agent-tasks.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import { runIdOf } from '../runs/run-request.ts';
import type { Created, RunService } from '../runs/run-service.ts';
import { readAccess } from '../threads/read-access.ts';
import { a2aError, invalidParam, taskNotFound } from './a2a-error.ts';
import type { Agent } from './agent-finder.ts';
import { isTerminal } from './agent-task.ts';
import { answersOf, inputOf } from './message-input.ts';
import type { SentMessage } from './params.ts';
import { pendingInterrupts, type TaskReader } from './task-reader.ts';

export interface TaskSenderParts {
  runs: RunService;
  granter: RunGranter;
  reader: TaskReader;
  storage: Pick<RunStorage, 'find'>;
}

/** The task of a message. `created`: the new run; undefined when an earlier request with the same message has started it. */
export interface SentTask {
  task_id: string;
  thread_id: string;
  run_id: string;
  messageId: string;
  access: RowFilter;
  created: Created | undefined;
}

interface Sending {
  message: SentMessage & { messageId: string };
  /** The key of the run; undefined when the client gave the message no id. */
  key: string | undefined;
  assistant: Agent['assistant'];
  call: Call;
  audience: Audience;
}

export class TaskSender {
  readonly #parts: TaskSenderParts;

  constructor(parts: TaskSenderParts) {
    this.#parts = parts;
  }

  /** Throws RpcError. */
  async send(
    message: SentMessage,
    { assistant, takesMessages }: Agent,
    call: Call,
    audience: Audience,
  ): Promise<SentTask> {
    const { messageId = randomUUID() } = message;
    const key = message.messageId && JSON.stringify(['a2a', assistant.assistant_id, messageId]);
    const sending = { message: { ...message, messageId }, key, assistant, call, audience };
    if (message.taskId !== undefined) return this.#continue(sending, message.taskId);
    const input = inputOf(message.parts, messageId, takesMessages);
    const thread_id = message.contextId?.toLowerCase() ?? newContext(sending);
    const body = { input, metadata: { [messageKey]: messageId }, if_not_exists: 'create' };
    return this.#create(sending, thread_id, body);
  }

  /** Answers the interrupts at which the task waits. */
  async #continue(sending: Sending, taskId: string): Promise<SentTask> {
    const { message, key, assistant, call } = sending;
    const { contextId, messageId } = message;
    const access = await readAccess(call.authorizer, { thread_id: contextId });
    const row = await this.#parts.reader.find(taskId, assistant.assistant_id, access);
    if (row === undefined) throw taskNotFound(taskId);
    const { task_id, thread_id, state } = row;
    if (contextId !== undefined && contextId.toLowerCase() !== thread_id)
      throw invalidParam('message.contextId', 'is not the context of the task');
    const metadata = { [taskKey]: task_id, [messageKey]: messageId };
    const known = key && runIdOf(key, thread_id, call.authorizer.user?.identity);
    const repeated = known && (await this.#parts.storage.find(known, thread_id, access));
    if (repeated && repeated.run_id !== task_id && repeated.metadata[taskKey] !== task_id)
      throw invalidParam('message.messageId', 'was used for another message');
    if (repeated)
      return { task_id, thread_id, run_id: repeated.run_id, messageId, access, created: undefined };
    if (isTerminal(state)) throw a2aError('UNSUPPORTED_OPERATION', `Task ${task_id} has ended: ${state}`);
    if (state !== 'input-required')
      throw a2aError('UNSUPPORTED_OPERATION', `Task ${task_id} does not wait for a message: ${state}`);
    const pending = pendingInterrupts(row).map(({ id }) => id);
    const input =
      pending.length === 0 ? { input: null } : { command: { resume: answersOf(message.parts, pending) } };
    // If two answers arrive at the same time, one of them is rejected.
    const body = { ...input, metadata, multitask_strategy: 'reject' };
    return { ...(await this.#create(sending, thread_id, body, row.state_updated_at)), task_id };
  }

  /** `answeredStateAt`: of a run that answers interrupts. */
  async #create(
    sending: Sending,
    thread_id: string,
    body: object,
    answeredStateAt?: string,
  ): Promise<SentTask> {
    const { message, key, assistant, call, audience } = sending;
    const { runs, granter, storage } = this.#parts;
    const run = RunCreate.parse({
      ...body,
      assistant_id: assistant.assistant_id,
      stream_mode: ['messages-tuple'],
    });
    const granted = await granter.grantRequest(call, thread_id, run, key);
    const { run_id, access } = granted.grant;
    const { messageId } = message;
    const sent = { task_id: run_id, thread_id, run_id, messageId, access };
    const known = key && (await storage.find(run_id, thread_id, access));
    if (known) {
      const { input } = JSON.parse(known.kwargs) as { input: unknown };
      if (!isDeepStrictEqual(input, granted.request.kwargs.input))
        throw invalidParam('message.messageId', 'was used for another message');
      return { ...sent, created: undefined };
    }
    try {
      if (answeredStateAt !== undefined) granted.request.answeredStateAt = answeredStateAt;
      const created = await runs.create(thread_id, granted, audience);
      if (!created.isNew) created.release();
      return { ...sent, created: created.isNew ? created : undefined };
    } catch (error) {
      throw toRpcError(error, message);
    }
  }
}

/** The context of a message that names none. It is derived from the message, so a repeated message gets the same context. */
const newContext = ({ message, key, call }: Sending): string => {
  if (key === undefined) return randomUUID();
  const parts = createHash('sha256').update(JSON.stringify(message.parts)).digest('hex');
  return runIdOf(`context ${key} ${parts}`, null, call.authorizer.user?.identity);
};

const toRpcError = (error: unknown, { taskId, contextId }: SentMessage): unknown => {
  if (!(error instanceof Problem)) return error;
  if (error.code === 'not_found' && contextId !== undefined)
    return invalidParam('message.contextId', `no such context: ${contextId}`);
  if (error.code !== 'conflict') return error;
  return taskId === undefined
    ? invalidParam('message.messageId', 'was used for another message')
    : a2aError('UNSUPPORTED_OPERATION', 'Another message is continuing this context');
};

// Reads runs as tasks of the A2A protocol: the state of the run, what it has produced, and the conversation.
import { isRecord } from '../../json/is-record.ts';
import { textOf } from '../../parsing/json-bytes.ts';
import type { AgentTaskRow, AgentTaskStorage } from '../../storage/deployment/runs/agent-tasks.ts';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { StateService } from '../threads/state-service.ts';
import { unlessGone } from '../unless-gone.ts';
import { type AgentMessage, type AgentTask, isActive, type Part, type TaskStatus } from './agent-task.ts';
import { type HistoryView, readTaskId } from './params.ts';

export interface TaskReaderParts {
  tasks: AgentTaskStorage;
  checkpoints: Pick<CheckpointStorage, 'findLeft'>;
  states: Pick<StateService, 'get'>;
}

/** What is read in addition to the state of the task. */
export interface TaskView {
  history: HistoryView;
  artifacts: boolean;
}

export const stateOnly: TaskView = { history: { length: 0, scope: 'task' }, artifacts: false };

export interface PendingInterrupt {
  id: string;
  value: unknown;
}

interface Message {
  type: unknown;
  id?: unknown;
  content?: unknown;
}

export class TaskReader {
  readonly #parts: TaskReaderParts;

  constructor(parts: TaskReaderParts) {
    this.#parts = parts;
  }

  /** `id`: as a client writes it. */
  async find(id: string, assistant_id: string, access: RowFilter): Promise<AgentTaskRow | undefined> {
    const named = readTaskId(id);
    if (named === undefined) return undefined;
    const row = await this.#parts.tasks.find(named.run_id, assistant_id, access);
    return named.thread_id === undefined || row?.thread_id === named.thread_id ? row : undefined;
  }

  async read(row: AgentTaskRow, view: TaskView, access: RowFilter): Promise<AgentTask> {
    const { task_id, thread_id } = row;
    const wantsArtifacts = view.artifacts && row.state === 'completed';
    const values = wantsArtifacts || view.history.length > 0 ? await this.#values(row, access) : undefined;
    const messages = messagesOf(values);
    const first = messages.findIndex(({ id }) => id === row.message_id);
    const ofTask = first === -1 ? messages : messages.slice(first);
    return {
      id: task_id,
      contextId: thread_id,
      status: statusOf(row),
      artifacts: wantsArtifacts ? [{ artifactId: row.run_id, parts: outputOf(values, ofTask) }] : [],
      history: historyOf(row, view.history.scope === 'task' ? ofTask : messages, ofTask, view.history.length),
    };
  }

  /** The last values of the run. While the run is in flight, the values of the thread. */
  async #values({ thread_id, run_id, state }: AgentTaskRow, access: RowFilter): Promise<unknown> {
    const left = isActive(state) ? undefined : await this.#parts.checkpoints.findLeft(run_id);
    if (left === undefined && !isActive(state)) return undefined;
    const checkpoint_id = left?.checkpoint.checkpoint_id;
    const text = await this.#parts.states
      .get(thread_id, { checkpoint_id }, access, { select: ['values'] })
      .catch(unlessGone);
    return text === undefined ? undefined : (JSON.parse(textOf(text)) as { values: unknown }).values;
  }
}

/** The interrupts at which the task waits. */
export const pendingInterrupts = ({ interrupts }: Pick<AgentTaskRow, 'interrupts'>): PendingInterrupt[] => {
  const byTask = JSON.parse(interrupts) as Record<string, { id?: string; value?: unknown }[]>;
  return Object.values(byTask).flatMap((list) =>
    list.flatMap(({ id, value }) => (id === undefined ? [] : [{ id, value }])),
  );
};

export const statusOf = (row: AgentTaskRow): TaskStatus => {
  const parts = statusParts(row);
  const { task_id: taskId, thread_id: contextId, run_id, state } = row;
  const timestamp = new Date(row.updated_at).toISOString();
  if (parts === undefined) return { state, timestamp };
  const message = { messageId: `${run_id}-${state}`, role: 'agent', parts, contextId, taskId } as const;
  return { state, timestamp, message };
};

const statusParts = (row: AgentTaskRow): Part[] | undefined => {
  if (row.state === 'failed' && row.error !== null) {
    const { error, message } = JSON.parse(row.error) as { error: string; message: string };
    return [{ kind: 'text', text: `${error}: ${message}` }];
  }
  if (row.state !== 'input-required') return undefined;
  const interrupts = pendingInterrupts(row);
  const [only, ...more] = interrupts;
  const text =
    only !== undefined && more.length === 0 && typeof only.value === 'string'
      ? only.value
      : `The agent waits for an answer. Interrupts: ${JSON.stringify(interrupts)}`;
  return [
    { kind: 'text', text },
    { kind: 'data', data: { interrupts } },
  ];
};

/** Empty when the state has no messages. */
const messagesOf = (values: unknown): Message[] => {
  const messages = isRecord(values) ? values['messages'] : undefined;
  if (!Array.isArray(messages)) return [];
  return (messages as unknown[]).filter((message): message is Message & Record<string, unknown> =>
    isRecord(message),
  );
};

/** The text of a message: its content, or the texts of its blocks. */
export const contentText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = (content as unknown[]).flatMap((block) =>
    isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : [],
  );
  return texts.join('');
};

/** The last answer of the agent, and its structured response; the whole state when it has no answer. */
const outputOf = (values: unknown, messages: Message[]): Part[] => {
  const answer = messages.findLast(({ type, content }) => type === 'ai' && contentText(content) !== '');
  const structured = isRecord(values) ? values['structuredResponse'] : undefined;
  const parts: Part[] = answer === undefined ? [] : [{ kind: 'text', text: contentText(answer.content) }];
  if (isRecord(structured)) parts.push({ kind: 'data', data: structured });
  return parts.length > 0 ? parts : [{ kind: 'data', data: values ?? {} }];
};

const roles: Record<string, 'user' | 'agent'> = { human: 'user', ai: 'agent' };

const historyOf = (
  row: AgentTaskRow,
  messages: Message[],
  ofTask: Message[],
  length: number,
): AgentMessage[] => {
  const history: AgentMessage[] = [];
  for (const message of messages.toReversed()) {
    if (history.length >= length) break;
    const role = roles[String(message.type)];
    const text = contentText(message.content);
    if (role === undefined || text === '') continue;
    history.unshift({
      messageId: typeof message.id === 'string' ? message.id : `${row.run_id}-${history.length}`,
      role,
      parts: [{ kind: 'text', text }],
      contextId: row.thread_id,
      taskId: ofTask.includes(message) ? row.task_id : undefined,
    });
  }
  return history;
};

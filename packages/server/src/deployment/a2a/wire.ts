// Tasks and events as JSON of A2A 0.3 and of A2A 1.0.
import { isRecord } from '../../json/is-record.ts';
import type { AgentTaskState } from '../../storage/deployment/runs/agent-tasks.ts';
import type {
  AgentMessage,
  AgentTask,
  Artifact,
  Dialect,
  Part,
  TaskEvent,
  TaskStatus,
} from './agent-task.ts';

/** The states of A2A 0.3, and their names in A2A 1.0. */
export const states: Record<AgentTaskState, string> = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  canceled: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
};

const partOf = (part: Part, dialect: Dialect): object => {
  if (part.kind === 'file') {
    const { bytes, uri, mime, name } = part;
    return dialect === '0.3'
      ? { kind: 'file', file: { bytes, uri, mimeType: mime, name } }
      : { raw: bytes, url: uri, mediaType: mime, filename: name };
  }
  if (dialect === '0.3') return part.kind === 'data' ? { ...part, data: objectOf(part.data) } : part;
  return part.kind === 'text'
    ? { text: part.text, mediaType: 'text/plain' }
    : { data: part.data, mediaType: 'application/json' };
};

/** In A2A 0.3, data are objects. */
const objectOf = (data: unknown): unknown => (isRecord(data) ? data : { value: data });

const partsOf = (parts: Part[], dialect: Dialect): object[] => parts.map((part) => partOf(part, dialect));

const messageOf = (message: AgentMessage, dialect: Dialect): object => {
  const { messageId, contextId, taskId, role, parts } = message;
  const fields = { messageId, contextId, taskId, parts: partsOf(parts, dialect) };
  return dialect === '0.3'
    ? { kind: 'message', role, ...fields }
    : { role: role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT', ...fields };
};

const statusOf = ({ state, message, timestamp }: TaskStatus, dialect: Dialect): object => ({
  state: dialect === '0.3' ? state : states[state],
  message: message && messageOf(message, dialect),
  timestamp,
});

const artifactOf = ({ artifactId, parts }: Artifact, dialect: Dialect): object => ({
  artifactId,
  name: 'Assistant Response',
  parts: partsOf(parts, dialect),
});

export const taskOf = (
  { id, contextId, status, artifacts, history }: AgentTask,
  dialect: Dialect,
): object => ({
  ...(dialect === '0.3' ? { kind: 'task' } : {}),
  id,
  contextId,
  status: statusOf(status, dialect),
  artifacts: artifacts.map((artifact) => artifactOf(artifact, dialect)),
  history: history.map((message) => messageOf(message, dialect)),
});

/** The response to a message that was sent without a stream. */
export const sendResultOf = (task: AgentTask, dialect: Dialect): object =>
  dialect === '0.3' ? taskOf(task, dialect) : { task: taskOf(task, dialect) };

export const eventOf = (event: TaskEvent, dialect: Dialect): object => {
  if (event.kind === 'task') return sendResultOf(event.task, dialect);
  const { id: taskId, contextId } = event.of;
  if (event.kind === 'status') {
    const update = { taskId, contextId, status: statusOf(event.status, dialect) };
    return dialect === '0.3'
      ? { kind: 'status-update', ...update, final: event.isFinal }
      : { statusUpdate: update };
  }
  const { append, isLast: lastChunk } = event;
  const update = { taskId, contextId, artifact: artifactOf(event.artifact, dialect), append, lastChunk };
  return dialect === '0.3' ? { kind: 'artifact-update', ...update } : { artifactUpdate: update };
};

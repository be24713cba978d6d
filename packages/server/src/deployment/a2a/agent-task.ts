// Tasks, messages and events of the A2A protocol, independent of its versions; wire.ts writes them.
import type { AgentTaskState } from '../../storage/deployment/runs/agent-tasks.ts';

/** Versions of the protocol. */
export type Dialect = '0.3' | '1.0';

export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'data'; data: unknown }
  | {
      kind: 'file';
      bytes?: string | undefined;
      uri?: string | undefined;
      mime?: string | undefined;
      name?: string | undefined;
    };

export interface AgentMessage {
  messageId: string;
  role: 'user' | 'agent';
  parts: Part[];
  contextId: string;
  /** Undefined for a message of another task in the same context. */
  taskId: string | undefined;
}

export interface Artifact {
  artifactId: string;
  parts: Part[];
}

export interface TaskStatus {
  state: AgentTaskState;
  message?: AgentMessage | undefined;
  timestamp: string;
}

export interface AgentTask {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts: Artifact[];
  history: AgentMessage[];
}

type OfTask = Pick<AgentTask, 'id' | 'contextId'>;

export type TaskEvent =
  | { kind: 'task'; task: AgentTask }
  | { kind: 'status'; of: OfTask; status: TaskStatus; isFinal: boolean }
  | { kind: 'artifact'; of: OfTask; artifact: Artifact; append: boolean; isLast: boolean };

/** True when the task will not change any more. */
export const isTerminal = (state: AgentTaskState): boolean =>
  state === 'completed' || state === 'canceled' || state === 'failed';

/** True while a run of the task is in flight. */
export const isActive = (state: AgentTaskState): boolean => state === 'submitted' || state === 'working';

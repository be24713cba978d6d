// What the events of a run say so far: its messages, and which nodes run. A pure function of the events.
import type { RunStreamEvent } from '@svc/sdk';
import { isObject, readMessage } from './read-messages.ts';

type Fields = Record<string, unknown>;

export interface NodeActivity {
  state: 'running' | 'done' | 'error' | 'interrupted';
  /** How often the node has started in this run. */
  visits: number;
  startedMs: number;
  /** Of the last visit. */
  tookMs: number | undefined;
}

export interface RunView {
  runId: string | undefined;
  /** Raw messages in the order of their first event, by id. */
  messages: ReadonlyMap<string, Fields>;
  nodes: ReadonlyMap<string, NodeActivity>;
  /** When the first part of an answer of a model has arrived. */
  firstTokenMs: number | undefined;
  /** When its stream has ended. */
  endedMs: number | undefined;
  error: string | undefined;
}

export const emptyView: RunView = {
  runId: undefined,
  messages: new Map(),
  nodes: new Map(),
  firstTokenMs: undefined,
  endedMs: undefined,
  error: undefined,
};

/** `nowMs` is when the event has arrived. */
export const foldEvent = (view: RunView, { event, data }: RunStreamEvent, nowMs: number): RunView => {
  // Events of subgraphs are named `mode|namespace`.
  const [mode = '', namespace] = event.split('|');
  switch (mode) {
    case 'metadata':
      return isObject(data) && typeof data['run_id'] === 'string'
        ? { ...emptyView, runId: data['run_id'] }
        : view;
    case 'messages':
      return Array.isArray(data) && isObject(data[0])
        ? withFirstToken(withMessage(view, data[0]), data[0], nowMs)
        : view;
    case 'updates':
      return isObject(data) ? withUpdates(view, data) : view;
    case 'tasks':
      return isObject(data) && namespace === undefined ? withTask(view, data, nowMs) : view;
    case 'error':
      return { ...view, error: errorText(data) };
    default:
      return view;
  }
};

const errorText = (data: unknown): string => {
  if (!isObject(data)) return String(data);
  const { error, message } = data as { error?: unknown; message?: unknown };
  return [error, message].filter((text) => typeof text === 'string' && text !== '').join(': ');
};

/** A chunk is appended to the message of its id; a whole message replaces it. */
const withMessage = (view: RunView, message: Fields): RunView => {
  const id = message['id'];
  if (typeof id !== 'string') return view;
  const before = view.messages.get(id);
  const isChunk = Array.isArray(message['tool_call_chunks']);
  const after = before && isChunk ? joined(before, message) : message;
  return { ...view, messages: new Map(view.messages).set(id, after) };
};

const withFirstToken = (view: RunView, message: Fields, nowMs: number): RunView =>
  view.firstTokenMs === undefined && readMessage(message)?.kind === 'ai'
    ? { ...view, firstTokenMs: nowMs }
    : view;

const joined = (before: Fields, chunk: Fields): Fields => {
  const calls = joinedCalls(listOf(before['tool_call_chunks']), listOf(chunk['tool_call_chunks']));
  return {
    ...before,
    ...chunk,
    content: joinedContent(before['content'], chunk['content']),
    // Complete calls of a chunk contain only what the chunk has.
    tool_calls: [],
    tool_call_chunks: calls,
    usage_metadata: chunk['usage_metadata'] ?? before['usage_metadata'],
  };
};

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);

const joinedContent = (before: unknown, added: unknown): unknown => {
  if (typeof before === 'string' && typeof added === 'string') return before + added;
  const parts = (value: unknown): unknown[] =>
    Array.isArray(value) ? value : value === '' || value === undefined ? [] : [{ type: 'text', text: value }];
  return [...parts(before), ...parts(added)];
};

const joinedCalls = (before: Fields[], added: Fields[]): Fields[] => {
  const calls = [...before];
  for (const chunk of added) {
    const at = calls.findIndex(({ index }) => index === chunk['index']);
    const earlier = calls[at];
    if (earlier === undefined) calls.push(chunk);
    else
      calls[at] = {
        ...earlier,
        name: earlier['name'] ?? chunk['name'],
        id: earlier['id'] ?? chunk['id'],
        args: `${textOf(earlier['args'])}${textOf(chunk['args'])}`,
      };
  }
  return calls;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The messages that a node has written are complete. */
const withUpdates = (view: RunView, updates: Fields): RunView => {
  const messages = new Map(view.messages);
  for (const update of Object.values(updates))
    for (const written of isObject(update) ? Object.values(update) : [])
      for (const message of listOf(written))
        if (typeof message['id'] === 'string' && 'content' in message) messages.set(message['id'], message);
  return { ...view, messages };
};

/** The stream has ended. A node without an end has failed if the run has and no node has said so; otherwise it was stopped. */
export const endView = (view: RunView, nowMs: number): RunView => {
  const nodes = new Map(view.nodes);
  const isCauseKnown = [...nodes.values()].some(({ state }) => state === 'error');
  const state = view.error !== undefined && !isCauseKnown ? 'error' : 'interrupted';
  for (const [name, node] of nodes)
    if (node.state === 'running') nodes.set(name, { ...node, state, tookMs: nowMs - node.startedMs });
  return { ...view, nodes, endedMs: nowMs };
};

/** The start of a task has its input, the end its result. */
const withTask = (view: RunView, task: Fields, nowMs: number): RunView => {
  const name = task['name'];
  if (typeof name !== 'string') return view;
  const before = view.nodes.get(name);
  if ('input' in task || !('result' in task)) {
    const started = { state: 'running', visits: (before?.visits ?? 0) + 1, startedMs: nowMs } as const;
    return { ...view, nodes: new Map(view.nodes).set(name, { ...started, tookMs: undefined }) };
  }
  const isInterrupted = Array.isArray(task['interrupts']) && task['interrupts'].length > 0;
  const hasFailed = task['error'] !== null && task['error'] !== undefined;
  const state = hasFailed ? 'error' : isInterrupted ? 'interrupted' : 'done';
  const startedMs = before?.startedMs ?? nowMs;
  const ended = { state, visits: before?.visits ?? 1, startedMs, tookMs: nowMs - startedMs } as const;
  return { ...view, nodes: new Map(view.nodes).set(name, ended) };
};

// Channels that carry the state of a graph: `values`, `updates`, `checkpoints` and `tasks`.
import { JsonText } from '../../../api/json-text.ts';
import { isRecord } from '../../../json/is-record.ts';
import type { LoggedEvent, ProtocolEvent } from './protocol-event.ts';

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** Fields of a message that are left out when they are empty. */
const optional = new Set([
  'additional_kwargs',
  'response_metadata',
  'tool_calls',
  'invalid_tool_calls',
  'tool_call_chunks',
  'usage_metadata',
  'name',
]);

const isMessage = (value: unknown): boolean =>
  isRecord(value) && typeof value['type'] === 'string' && 'content' in value;

/** A message of the state without empty fields; tool calls name their type. */
const normalMessage = (message: unknown): unknown => {
  if (!isRecord(message) || !isMessage(message)) return message;
  const entries = Object.entries(message).filter(
    ([name, value]) => name !== 'example' && !(optional.has(name) && isEmpty(value)),
  );
  const { tool_calls } = message;
  if (Array.isArray(tool_calls) && tool_calls.length > 0) {
    const typed = tool_calls.map((call: unknown) => (isRecord(call) ? { ...call, type: 'tool_call' } : call));
    return { ...Object.fromEntries(entries), tool_calls: typed };
  }
  return Object.fromEntries(entries);
};

/** A state or an update without `__interrupt__`, with normalised messages. */
export const normalState = (state: unknown): unknown => {
  if (!isRecord(state)) return state;
  const { __interrupt__: _, ...values } = state;
  const { messages } = values;
  return Array.isArray(messages) ? { ...values, messages: messages.map(normalMessage) } : values;
};

/** A state as the log has it; undefined when it may have messages or interrupts, which are translated. */
export const plainValues = (namespace: readonly string[], text: string): ProtocolEvent[] | undefined =>
  text.includes('"messages"') || text.includes('"__interrupt__"')
    ? undefined
    : [{ channel: 'values', method: 'values', namespace, data: new JsonText(text), key: 'values' }];

/** An interrupt is announced by a state with nothing else than `__interrupt__`; it is no event of this channel. */
export const valuesEvents = ({ namespace, data }: LoggedEvent): ProtocolEvent[] => {
  if (isRecord(data) && '__interrupt__' in data && Object.keys(data).length === 1) return [];
  return [{ channel: 'values', method: 'values', namespace, data: normalState(data), key: 'values' }];
};

/** One event for each node. */
export const updatesEvents = ({ namespace, data }: LoggedEvent): ProtocolEvent[] => {
  if (!isRecord(data)) return [];
  return Object.entries(data)
    .filter(([node]) => node !== '__interrupt__' && node !== '__metadata__')
    .map(([node, update]) => ({
      channel: 'updates' as const,
      method: 'updates',
      namespace,
      node,
      data: { node, values: normalState(update) },
      key: `updates.${node}`,
    }));
};

export const checkpointEvents = ({ namespace, data }: LoggedEvent): ProtocolEvent[] => [
  { channel: 'checkpoints', method: 'checkpoints', namespace, data, key: 'checkpoint' },
];

export const taskEvents = ({ namespace, text }: LoggedEvent): ProtocolEvent[] => [
  { channel: 'tasks', method: 'tasks', namespace, data: new JsonText(text), key: 'task' },
];

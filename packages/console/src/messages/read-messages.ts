// Messages of LangChain, as they are on the wire, in a form that the pages show.

import { mediaOf, type Media } from './media.ts';

export interface ToolCall {
  id: string | undefined;
  name: string;
  /** Parsed where it is JSON; the text as far as it has arrived otherwise. */
  args: unknown;
}

export interface Message {
  id: string | undefined;
  kind: 'human' | 'ai' | 'tool' | 'system' | 'other';
  /** Of a tool or a participant. */
  name: string | undefined;
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  /** The call that a tool message answers. */
  toolCallId: string | undefined;
  isError: boolean;
  /** Images, audio and files in the content. */
  media: Media[];
  usage: { input: number; output: number } | undefined;
  /** The name of the model that has written it. */
  model: string | undefined;
  /** When it was written. */
  at: string | undefined;
  raw: object;
}

type Fields = Record<string, unknown>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A map, because an object has members such as `constructor`, which a message may name as its type. */
const kinds: ReadonlyMap<string, Message['kind']> = new Map([
  ['human', 'human'],
  ['user', 'human'],
  ['ai', 'ai'],
  ['assistant', 'ai'],
  ['AIMessageChunk', 'ai'],
  ['tool', 'tool'],
  ['ToolMessage', 'tool'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** The kind of a message with this type or role; undefined for others than those of LangChain. */
export const kindOf = (type: unknown): Message['kind'] | undefined =>
  typeof type === 'string' ? kinds.get(type) : undefined;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const optional = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const partsOf = (content: unknown): Fields[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : Array.isArray(content)
      ? content.map((part): Fields => (isObject(part) ? part : { type: 'text', text: partText(part) }))
      : [];

const partText = (part: unknown): string => (typeof part === 'string' ? part : JSON.stringify(part));

const tokens = (value: unknown): number => (typeof value === 'number' ? value : 0);

const usageOf = (value: unknown): Message['usage'] =>
  isObject(value)
    ? { input: tokens(value['input_tokens']), output: tokens(value['output_tokens']) }
    : undefined;

export const parsedArgs = (args: unknown): unknown => {
  if (typeof args !== 'string') return args;
  try {
    return JSON.parse(args) as unknown;
  } catch {
    return args; // it has not arrived completely, or the model has written something else
  }
};

const toolCallsOf = (raw: Fields): ToolCall[] => {
  const complete = Array.isArray(raw['tool_calls']) ? raw['tool_calls'] : [];
  const calls =
    complete.length > 0 ? complete : Array.isArray(raw['tool_call_chunks']) ? raw['tool_call_chunks'] : [];
  return calls.filter(isObject).map((call) => ({
    id: optional(call['id']),
    name: textOf(call['name']),
    args: parsedArgs(call['args']),
  }));
};

/** Model and time, where the provider or the graph has written them. */
const originOf = (raw: Fields): Pick<Message, 'model' | 'at'> => {
  const [response, extra] = ['response_metadata', 'additional_kwargs'].map((name) => {
    const { [name]: value } = raw;
    return isObject(value) ? value : {};
  });
  const model = optional(response?.['model_name']) ?? optional(response?.['model']);
  const times = [raw['created_at'], response?.['created_at'], response?.['created'], extra?.['created_at']];
  return { model, at: times.map(timeOf).find((time) => time !== undefined) };
};

/** An ISO time, or seconds as model APIs report them. */
const timeOf = (value: unknown): string | undefined => {
  const ms =
    typeof value === 'number' ? value * 1_000 : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return ms > 0 && ms < 8.64e15 ? new Date(ms).toISOString() : undefined;
};

/** Undefined for a value that is no message. */
export const readMessage = (raw: unknown): Message | undefined => {
  if (!isObject(raw)) return undefined;
  const type = optional(raw['type']) ?? optional(raw['role']);
  if (type === undefined || !('content' in raw)) return undefined;
  const parts = partsOf(raw['content']);
  const texts = (type: string, field: string) =>
    parts
      .filter((part) => part['type'] === type)
      .map((part) => textOf(part[field]))
      .join('');
  const extra = isObject(raw['additional_kwargs'])
    ? textOf(raw['additional_kwargs']['reasoning_content'])
    : '';
  return {
    id: optional(raw['id']),
    kind: kindOf(type) ?? 'other',
    name: optional(raw['name']),
    text: texts('text', 'text'),
    reasoning: texts('reasoning', 'reasoning') + texts('thinking', 'thinking') + extra,
    toolCalls: toolCallsOf(raw),
    toolCallId: optional(raw['tool_call_id']),
    isError: raw['status'] === 'error',
    media: parts.map(mediaOf).filter((media) => media !== undefined),
    usage: usageOf(raw['usage_metadata']),
    ...originOf(raw),
    raw,
  };
};

/** True for contents that the pages cannot show: they show their JSON. */
export const isBlank = ({ text, reasoning, toolCalls, media, raw }: Message): boolean => {
  const { content } = raw as { content?: unknown };
  const isEmpty = content === '' || content === null || (Array.isArray(content) && content.length === 0);
  return !isEmpty && text === '' && reasoning === '' && toolCalls.length === 0 && media.length === 0;
};

/** A message of which only its JSON is shown. */
export const jsonMessage = (raw: object, id?: string): Message => ({
  id,
  kind: 'other',
  name: undefined,
  text: '',
  reasoning: '',
  toolCalls: [],
  toolCallId: undefined,
  isError: false,
  media: [],
  usage: undefined,
  model: undefined,
  at: undefined,
  raw,
});

/** The name of the channel that holds messages, if the state has one: `messages`, or the first list of messages. */
export const messagesKey = (values: unknown): string | undefined => {
  if (!isObject(values)) return undefined;
  const isList = (key: string): boolean => {
    const list = values[key];
    return Array.isArray(list) && list.length > 0 && readMessage(list[0]) !== undefined;
  };
  if (isList('messages')) return 'messages';
  return Object.keys(values).find(isList);
};

export const readMessages = (values: unknown): Message[] => {
  const key = messagesKey(values);
  if (key === undefined || !isObject(values)) return [];
  return (values[key] as unknown[]).map(readMessage).filter((message) => message !== undefined);
};

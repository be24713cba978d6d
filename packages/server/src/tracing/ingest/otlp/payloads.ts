// Reads inputs and outputs from the attributes and events of a span, in any of the supported conventions.
import { countJson, suspicious } from '../../../json/count-json.ts';
import type { JsonBudget } from '../../../json/json-limits.ts';
import type { Span, SpanEvent } from './span.ts';
import { isRecord } from '../../../json/is-record.ts';

/**
 * `whole`: the value is the payload if it is an object; otherwise it becomes the key's value. `list`: the value becomes the key's value.
 * `tree`: attributes with the name as prefix become a list, which is the key's value. `fields`: several attributes become one object.
 */
type Shape =
  | { as: 'whole' | 'list' | 'tree'; name: string; key: string }
  | { as: 'fields'; fields: Readonly<Record<string, string>> };

const whole = (name: string, key: string): Shape => ({ as: 'whole', name, key });
const list = (name: string, key: string): Shape => ({ as: 'list', name, key });
const tree = (name: string, key: string): Shape => ({ as: 'tree', name, key });

const fields = (named: Readonly<Record<string, string>>): Shape => ({ as: 'fields', fields: named });

/** The first attribute that exists is used; the others become metadata. */
const inputShapes: readonly Shape[] = [
  whole('gen_ai.prompt', 'input'),
  tree('gen_ai.prompt', 'messages'),
  list('gen_ai.input.messages', 'messages'),
  tree('llm.input_messages', 'messages'),
  whole('gen_ai.tool.call.arguments', 'input'),
  whole('input.value', 'input'),
  whole('traceloop.entity.input', 'input'),
  whole('tool_arguments', 'input'),
  list('ai.prompt.messages', 'messages'),
  whole('ai.prompt', 'input'),
  whole('ai.toolCall.args', 'input'),
  list('ai.value', 'input'),
  list('ai.values', 'input'),
  whole('prompt', 'input'),
  list('pydantic_ai.all_messages', 'messages'),
  list('all_messages_events', 'messages'),
  whole('gen_ai.retrieval.query.text', 'query'),
  whole('reranker.query', 'query'),
  whole('llm.prompt_template.variables', 'input'),
];

const outputShapes: readonly Shape[] = [
  whole('gen_ai.completion', 'output'),
  tree('gen_ai.completion', 'messages'),
  list('gen_ai.output.messages', 'messages'),
  tree('llm.output_messages', 'messages'),
  tree('retrieval.documents', 'documents'),
  tree('reranker.output_documents', 'documents'),
  list('gen_ai.retrieval.documents', 'documents'),
  whole('gen_ai.tool.call.result', 'output'),
  whole('output.value', 'output'),
  whole('traceloop.entity.output', 'output'),
  // The AI SDK of Vercel.
  fields({
    'ai.response.text': 'text',
    'ai.response.reasoning': 'reasoning',
    'ai.response.object': 'object',
    'ai.response.toolCalls': 'tool_calls',
  }),
  fields({ 'ai.result.text': 'text', 'ai.result.object': 'object', 'ai.result.toolCalls': 'tool_calls' }),
  whole('ai.toolCall.result', 'output'),
  // pydantic-ai and Logfire.
  whole('tool_response', 'output'),
  whole('final_result', 'output'),
];

/** Events whose attributes have the names of attributes of spans. */
const detailEvents = new Set([
  'gen_ai.content.prompt',
  'gen_ai.content.completion',
  'gen_ai.client.inference.operation.details',
]);
const inputEvents = new Set(['gen_ai.system.message', 'gen_ai.user.message']);
const outputEvents = new Set(['gen_ai.assistant.message', 'gen_ai.tool.message', 'gen_ai.choice']);

export interface SpanPayloads {
  inputs: object | undefined;
  outputs: object | undefined;
  /** Names of the attributes that inputs and outputs contain. */
  used: ReadonlySet<string>;
}

export const payloadsOf = (span: Span, budget: JsonBudget): SpanPayloads => {
  const used = new Set<string>();
  const sources = [span, ...span.events.filter(({ name }) => detailEvents.has(name))];
  const { inputs, outputs } = ofEventList(span, used, budget);
  return {
    inputs:
      findIn(sources, inputShapes, used, budget) ?? inputs ?? ofEvents(span.events, inputEvents, budget),
    outputs:
      findIn(sources, outputShapes, used, budget) ?? outputs ?? ofEvents(span.events, outputEvents, budget),
    used,
  };
};

type Source = Pick<Span, 'attributes'>;

const findIn = (
  sources: readonly Source[],
  shapes: readonly Shape[],
  used: Set<string>,
  budget: JsonBudget,
): object | undefined => {
  for (const [at, source] of sources.entries()) {
    // Only attributes of the span would be in the metadata otherwise.
    const found = find(source, shapes, at === 0 ? used : new Set(), budget);
    if (found !== undefined) return found;
  }
  return undefined;
};

const find = (
  { attributes }: Source,
  shapes: readonly Shape[],
  used: Set<string>,
  budget: JsonBudget,
): object | undefined => {
  for (const shape of shapes) {
    if (shape.as === 'fields') {
      const entries = Object.entries(shape.fields).filter(([name]) => isGiven(attributes.get(name)));
      if (entries.length === 0) continue;
      for (const [name] of entries) used.add(name);
      return Object.fromEntries(
        entries.map(([name, key]) => [key, fromJsonText(attributes.get(name), budget)] as const),
      );
    }
    const { as, name, key } = shape;
    if (as === 'tree') {
      const names = namesBelow(attributes.keys(), name);
      if (names.length === 0) continue;
      for (const one of names) used.add(one);
      return { [key]: listBelow(attributes, names, name, budget) };
    }
    const value = attributes.get(name);
    if (!isGiven(value)) continue;
    used.add(name);
    const read = fromJsonText(value, budget);
    return as === 'whole' && isRecord(read) ? read : { [key]: read };
  }
  return undefined;
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const jsonCharsMax = 10_000_000;

/**
 * Parses a string with a JSON object or list, as several conventions use. Returns other values, invalid JSON and JSON that is nested too
 * deep unchanged. Counts against the budget of the body.
 */
export const fromJsonText = (value: unknown, budget: JsonBudget): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value) || value.length > jsonCharsMax) return value;
  if (countJson(value, budget) === suspicious) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

const ofEvents = (
  events: readonly SpanEvent[],
  names: ReadonlySet<string>,
  budget: JsonBudget,
): object | undefined => {
  const messages = events
    .filter(({ name }) => names.has(name))
    .map(({ name, attributes }) => {
      const content = Object.fromEntries(
        [...attributes].map(([key, value]) => [key, fromJsonText(value, budget)] as const),
      );
      return toMessage(name, content);
    });
  return messages.length > 0 ? { messages } : undefined;
};

/** The message of an event. Its content may be JSON in one attribute; a choice may have its message in another attribute. */
const toMessage = (
  name: string,
  { 'gen_ai.event.content': whole, ...given }: Record<string, unknown>,
): object => {
  const { message, ...rest } = {
    ...given,
    ...(isRecord(whole) ? whole : isGiven(whole) ? { content: whole } : {}),
  };
  const kind = name.split('.')[1] ?? '';
  const inner = isRecord(message) ? message : isGiven(message) ? { content: message } : {};
  return { role: kind === 'choice' ? 'assistant' : kind, ...rest, ...inner };
};

/** Logfire and older versions of pydantic-ai write the events as one attribute: the conversation, and the choices of the model. */
const ofEventList = (
  { attributes }: Source,
  used: Set<string>,
  budget: JsonBudget,
): { inputs?: object; outputs?: object } => {
  const events = fromJsonText(attributes.get('events'), budget);
  if (!Array.isArray(events) || !events.every(isRecord)) return {};
  const named = events.map(({ 'event.name': name, ...event }) => ({ name: String(name), event }));
  const messagesOf = (isChoice: boolean) =>
    named
      .filter(({ name }) => (name === 'gen_ai.choice') === isChoice)
      .map(({ name, event }) => toMessage(name, event));
  used.add('events');
  const [inputs, outputs] = [messagesOf(false), messagesOf(true)];
  return {
    ...(inputs.length > 0 ? { inputs: { messages: inputs } } : {}),
    ...(outputs.length > 0 ? { outputs: { messages: outputs } } : {}),
  };
};

// Builds lists and objects from attributes whose names are paths, such as `llm.input_messages.0.message.role`.

/** The rest of a deeper path becomes one key. */
const depthMax = 32;

/** OpenInference wraps each item of a list in an object with one of these as the only key. */
const wrappers = new Set(['message', 'document', 'tool_call', 'message_content', 'tool', 'embedding']);

interface Node {
  value: unknown;
  children: Map<string, Node>;
}

const newNode = (): Node => ({ value: undefined, children: new Map() });

/** The names that consist of the prefix, a dot, and a path that begins with an index. */
export const namesBelow = (names: Iterable<string>, prefix: string): string[] =>
  [...names].filter((name) => name.startsWith(`${prefix}.`) && /^\d/.test(name.slice(prefix.length + 1)));

/** Builds the list of a prefix from the attributes with these names. Gaps between indexes are removed, so a large index allocates nothing. */
export const listBelow = (
  attributes: ReadonlyMap<string, unknown>,
  names: readonly string[],
  prefix: string,
  budget: JsonBudget,
): unknown => {
  const root = newNode();
  for (const name of names) {
    const path = name.slice(prefix.length + 1).split('.');
    let node = root;
    for (const [depth, segment] of path.entries()) {
      const key = depth >= depthMax ? path.slice(depth).join('.') : segment;
      let next = node.children.get(key);
      if (next === undefined) {
        // A name of a hundred bytes may create one object per dot.
        budget.spend(1);
        next = newNode();
        node.children.set(key, next);
      }
      node = next;
      if (depth >= depthMax) break;
    }
    node.value = attributes.get(name);
  }
  return toValue(root);
};

const toValue = (node: Node): unknown => {
  const { value, children } = node;
  if (children.size === 0) return value;
  const keys = [...children.keys()];
  if (value === undefined && keys.every((key) => /^\d{1,9}$/.test(key)))
    return keys
      .toSorted((a, b) => Number(a) - Number(b))
      .map((key) => toValue(unwrapped(children.get(key) ?? newNode())));
  const entries = keys.map((key) => [key, toValue(children.get(key) ?? newNode())] as const);
  return Object.fromEntries(value === undefined ? entries : [['value', value], ...entries]);
};

const unwrapped = (node: Node): Node => {
  const [only] = node.children;
  if (node.value !== undefined || node.children.size !== 1 || only === undefined || !wrappers.has(only[0]))
    return node;
  return only[1];
};

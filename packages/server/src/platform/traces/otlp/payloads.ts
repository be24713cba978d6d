// What went into a span and what came out of it, by whichever convention it says that.
import { listBelow, namesBelow } from './attribute-tree.ts';
import type { Span, SpanEvent } from './span.ts';

interface Shape {
  /** `whole`: the payload itself, an object. `list`: under the key. `tree`: attributes below it, as a list under the key. */
  as: 'whole' | 'list' | 'tree';
  name: string;
  key: string;
}

const whole = (name: string, key: string): Shape => ({ as: 'whole', name, key });
const list = (name: string, key: string): Shape => ({ as: 'list', name, key });
const tree = (name: string, key: string): Shape => ({ as: 'tree', name, key });

/** The first that is there counts; others stay among the metadata. */
const inputShapes: readonly Shape[] = [
  whole('gen_ai.prompt', 'input'),
  tree('gen_ai.prompt', 'messages'),
  list('gen_ai.input.messages', 'messages'),
  tree('llm.input_messages', 'messages'),
  whole('gen_ai.tool.call.arguments', 'input'),
  whole('input.value', 'input'),
  whole('traceloop.entity.input', 'input'),
  whole('tool_arguments', 'input'),
  whole('prompt', 'input'),
  list('all_messages_events', 'messages'),
];

const outputShapes: readonly Shape[] = [
  whole('gen_ai.completion', 'output'),
  tree('gen_ai.completion', 'messages'),
  list('gen_ai.output.messages', 'messages'),
  tree('llm.output_messages', 'messages'),
  tree('retrieval.documents', 'documents'),
  whole('gen_ai.tool.call.result', 'output'),
  whole('output.value', 'output'),
  whole('traceloop.entity.output', 'output'),
];

const inputEvents = new Set(['gen_ai.system.message', 'gen_ai.user.message']);
const outputEvents = new Set(['gen_ai.assistant.message', 'gen_ai.tool.message', 'gen_ai.choice']);

export interface SpanPayloads {
  inputs: object | undefined;
  outputs: object | undefined;
  /** Names of the attributes that are in them. */
  used: ReadonlySet<string>;
}

export const payloadsOf = (span: Span): SpanPayloads => {
  const used = new Set<string>();
  const inputs = find(span, inputShapes, used) ?? ofEvents(span.events, inputEvents);
  const outputs = find(span, outputShapes, used) ?? ofEvents(span.events, outputEvents);
  return { inputs, outputs, used };
};

const find = ({ attributes }: Span, shapes: readonly Shape[], used: Set<string>): object | undefined => {
  for (const { as, name, key } of shapes) {
    if (as === 'tree') {
      const names = namesBelow(attributes.keys(), name);
      if (names.length === 0) continue;
      for (const one of names) used.add(one);
      return { [key]: listBelow(attributes, names, name) };
    }
    const value = attributes.get(name);
    if (value === undefined || value === null) continue;
    used.add(name);
    const read = fromJsonText(value);
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
    return as === 'whole' && isObject ? read : { [key]: read };
  }
  return undefined;
};

const jsonCharsMax = 10_000_000;

/** Conventions put JSON into texts; what is none stays a text. */
export const fromJsonText = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value) || value.length > jsonCharsMax) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

const ofEvents = (events: readonly SpanEvent[], names: ReadonlySet<string>): object | undefined => {
  const messages = events
    .filter(({ name }) => names.has(name))
    .map(({ name, attributes }) => {
      const role = name.split('.')[1] ?? '';
      const said = Object.fromEntries(
        [...attributes].map(([key, value]) => [key, fromJsonText(value)] as const),
      );
      return { role: role === 'choice' ? 'assistant' : role, ...said };
    });
  return messages.length > 0 ? { messages } : undefined;
};

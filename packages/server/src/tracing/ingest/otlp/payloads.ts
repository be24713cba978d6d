// Reads inputs and outputs from the attributes and events of a span, in any of the supported conventions.
import type { JsonBudget } from '../../../parsing/json-limits.ts';
import { measure } from '../json-text.ts';
import { listBelow, namesBelow } from './attribute-tree.ts';
import type { Span, SpanEvent } from './span.ts';

interface Shape {
  /**
   * `whole`: the value is the payload if it is an object; otherwise it becomes the key's value. `list`: the value becomes the key's value.
   * `tree`: attributes with the name as prefix become a list, which is the key's value.
   */
  as: 'whole' | 'list' | 'tree';
  name: string;
  key: string;
}

const whole = (name: string, key: string): Shape => ({ as: 'whole', name, key });
const list = (name: string, key: string): Shape => ({ as: 'list', name, key });
const tree = (name: string, key: string): Shape => ({ as: 'tree', name, key });

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
  /** Names of the attributes that inputs and outputs contain. */
  used: ReadonlySet<string>;
}

export const payloadsOf = (span: Span, budget: JsonBudget): SpanPayloads => {
  const used = new Set<string>();
  const inputs = find(span, inputShapes, used, budget) ?? ofEvents(span.events, inputEvents, budget);
  const outputs = find(span, outputShapes, used, budget) ?? ofEvents(span.events, outputEvents, budget);
  return { inputs, outputs, used };
};

const find = (
  { attributes }: Span,
  shapes: readonly Shape[],
  used: Set<string>,
  budget: JsonBudget,
): object | undefined => {
  for (const { as, name, key } of shapes) {
    if (as === 'tree') {
      const names = namesBelow(attributes.keys(), name);
      if (names.length === 0) continue;
      for (const one of names) used.add(one);
      return { [key]: listBelow(attributes, names, name, budget) };
    }
    const value = attributes.get(name);
    if (value === undefined || value === null) continue;
    used.add(name);
    const read = fromJsonText(value, budget);
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
    return as === 'whole' && isObject ? read : { [key]: read };
  }
  return undefined;
};

const jsonCharsMax = 10_000_000;

/**
 * Parses a string with a JSON object or list, as several conventions use. Returns other values, invalid JSON and JSON that is nested too
 * deep unchanged. Counts against the budget of the body.
 */
export const fromJsonText = (value: unknown, budget: JsonBudget): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value) || value.length > jsonCharsMax) return value;
  if (!measure(value, budget)) return value;
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
      const role = name.split('.')[1] ?? '';
      const content = Object.fromEntries(
        [...attributes].map(([key, value]) => [key, fromJsonText(value, budget)] as const),
      );
      return { role: role === 'choice' ? 'assistant' : role, ...content };
    });
  return messages.length > 0 ? { messages } : undefined;
};

// Messages in the forms in which tracers send them, as messages on the wire: serialized constructors (`{"lc": 1, "type": "constructor", …}`),
// dumps with `data`, and messages of model APIs with `function` calls.
import { isObject, kindOf, parsedArgs } from './read-messages.ts';

type Fields = Record<string, unknown>;

const constructorTypes: ReadonlyMap<string, string> = new Map([
  ['HumanMessage', 'human'],
  ['AIMessage', 'ai'],
  ['ToolMessage', 'tool'],
  ['SystemMessage', 'system'],
]);

/** Undefined for a value that is no message. */
export const plainMessage = (value: unknown): Fields | undefined => {
  if (!isObject(value)) return undefined;
  const message = ofConstructor(value) ?? ofDump(value) ?? ofWire(value);
  return message && withCalls(message);
};

const ofConstructor = ({ lc, type, id, kwargs }: Fields): Fields | undefined => {
  if (lc !== 1 || type !== 'constructor' || !Array.isArray(id) || !isObject(kwargs)) return undefined;
  const name: unknown = id.at(-1);
  if (typeof name !== 'string') return undefined;
  const match = /^(\w+Message)(?:Chunk)?$/.exec(name);
  if (!match) return undefined;
  return { content: '', ...kwargs, type: constructorTypes.get(match[1] ?? '') ?? kwargs['role'] ?? name };
};

/** `{"type": "human", "data": {"content": …}}`. */
const ofDump = ({ type, data }: Fields): Fields | undefined =>
  kindOf(type) !== undefined && isObject(data) && 'content' in data ? { ...data, type } : undefined;

const ofWire = (value: Fields): Fields | undefined => {
  const { type, role } = value;
  if (!('content' in value)) return undefined;
  if (kindOf(type) !== undefined) return value;
  return kindOf(role) === undefined ? undefined : { ...value, type: role };
};

/** Calls of tools in the other places where a message may have them. */
const withCalls = (message: Fields): Fields => {
  const { tool_calls: given, content, additional_kwargs: extra } = message;
  const lists = [given, isObject(extra) ? extra['tool_calls'] : undefined, usesIn(content)];
  const calls = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
  return calls === undefined ? message : { ...message, tool_calls: calls.map(plainCall) };
};

const usesIn = (content: unknown): Fields[] =>
  Array.isArray(content)
    ? content
        .filter((part): part is Fields => isObject(part) && part['type'] === 'tool_use')
        .map(({ id, name, input }) => ({ id, name, args: input }))
    : [];

/** `{"function": {"name": …, "arguments": "{…}"}}` as `{"name": …, "args": {…}}`. */
const plainCall = (call: unknown): unknown => {
  if (!isObject(call) || !isObject(call['function'])) return call;
  const { name, arguments: args } = call['function'];
  return { id: call['id'], name, args: parsedArgs(args) };
};

// Builds lists and objects from attributes whose names are paths, such as `llm.input_messages.0.message.role`.
import type { JsonBudget } from '../../../json/json-limits.ts';

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

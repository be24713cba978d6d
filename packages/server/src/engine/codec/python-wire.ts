// What clients get of values that Python graphs store: the same as from the stock Python server.
//   {"$":"py","kind":…,"of":…}   "of" is the value as plain data; "json" replaces it if a model has its own way to be printed
//   "py" in another tag          Python made the value: its form for clients differs from that of JavaScript
import { messageFields, type MessageType } from './message-tree.ts';
import { isRecord } from '../../json/is-record.ts';
import { setOwn, type Tagged } from './tagged.ts';

type Fields = Record<string, unknown>;

export const isMadeByPython = (tree: Tagged): boolean => tree['py'] !== undefined;

/** Fields of dataclasses are omitted when their names begin with an underscore. */
const publicFields = (of: unknown): unknown =>
  isRecord(of) ? Object.fromEntries(Object.entries(of).filter(([key]) => !key.startsWith('_'))) : of;

/** The plain data of a tree with the tag `py`. */
export const pythonData = (tree: Tagged): unknown => {
  if (tree['json'] !== undefined) return tree['json'];
  return tree['kind'] === 'dataclass' ? publicFields(tree['of']) : tree['of'];
};

const chunkTypes = new Map<string, string>([
  ['ai_chunk', 'AIMessageChunk'],
  ['human_chunk', 'HumanMessageChunk'],
  ['system_chunk', 'SystemMessageChunk'],
  ['tool_chunk', 'ToolMessageChunk'],
  ['function_chunk', 'FunctionMessageChunk'],
  ['generic_chunk', 'ChatMessageChunk'],
]);

const defaultsOf = (type: MessageType, tag: string): Fields => {
  if (type === 'tool') return { tool_call_id: '', artifact: null, status: 'success' };
  if (type === 'generic') return { role: '' };
  if (type !== 'ai') return {};
  const calls = { tool_calls: [], invalid_tool_calls: [], usage_metadata: null };
  return tag === 'ai_chunk' ? { ...calls, tool_call_chunks: [], chunk_position: null } : calls;
};

/** The fields of a message in the order of its class. Their values are not converted. */
export const pythonMessage = (type: MessageType, tree: Tagged): Fields => {
  const out: Fields = {
    content: tree['content'],
    additional_kwargs: {},
    response_metadata: {},
    type: chunkTypes.get(tree.$) ?? (type === 'generic' ? 'chat' : type),
    name: null,
    id: null,
    ...defaultsOf(type, tree.$),
  };
  for (const key in tree) if (messageFields.has(key)) out[key] = tree[key];
  const { own } = tree;
  if (isRecord(own)) for (const key of Object.keys(own)) setOwn(out, key, own[key]);
  return out;
};

/** Objects of the engine, and documents. Undefined for other tags. */
export const pythonInstance = ({ $: tag, ...parts }: Tagged): Fields | undefined => {
  switch (tag) {
    case 'send':
      return { node: parts['node'], args: parts['args'] ?? null };
    case 'command':
      return {
        graph: parts['graph'] ?? null,
        update: parts['update'] ?? null,
        resume: parts['resume'] ?? null,
        goto: parts['goto'] ?? [],
      };
    case 'overwrite':
      return { value: parts['of'], type: '__overwrite__' };
    case 'document':
      return {
        id: parts['id'] ?? null,
        metadata: parts['metadata'] ?? {},
        page_content: parts['pageContent'],
        type: 'Document',
      };
    default:
      return undefined;
  }
};

/** A key of a dict as the name of a member; undefined when it can be none. */
export const memberName = (key: unknown): string | undefined =>
  key === null || ['string', 'number', 'boolean'].includes(typeof key) ? String(key) : undefined;

// Recognises LangChain messages by their properties and not by their class: a project may contain several copies of
// @langchain/core.

const messageSymbol = Symbol.for('langchain.message');

export type MessageType = 'human' | 'ai' | 'system' | 'tool' | 'function' | 'generic' | 'remove';

const types: ReadonlySet<unknown> = new Set<MessageType>([
  'human',
  'ai',
  'system',
  'tool',
  'function',
  'generic',
  'remove',
]);

const isMessageType = (type: unknown): type is MessageType => types.has(type);

/** Properties that a message class declares. Other own properties were added by the user or a subclass. */
export const messageFields: ReadonlySet<string> = new Set([
  'content',
  'id',
  'name',
  'additional_kwargs',
  'response_metadata',
  'tool_calls',
  'invalid_tool_calls',
  'tool_call_chunks',
  'usage_metadata',
  'tool_call_id',
  'status',
  'artifact',
  'metadata',
  'role',
]);

/** Properties that are the same for all messages of a type, and are not stored. */
const structural: ReadonlySet<string> = new Set([
  'type',
  'lc_kwargs',
  'lc_namespace',
  'lc_serializable',
  'lc_direct_tool_output',
]);

export interface Message extends Record<string, unknown> {
  type: MessageType;
  lc_kwargs?: Record<string, unknown>;
}

export const isMessage = (value: object): value is Message =>
  (messageSymbol in value || '_getType' in value) &&
  isMessageType((value as { type?: unknown }).type) &&
  'lc_kwargs' in value;

const isChunk = (message: object): boolean => {
  const { lc_name } = message.constructor as { lc_name?: () => string };
  return typeof lc_name === 'function' && lc_name.call(message.constructor).endsWith('Chunk');
};

/** True when every new message of the type has this value, so that it need not be stored. */
const isDefault = (key: string, value: unknown): boolean => {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (key === 'additional_kwargs' || key === 'response_metadata') {
    return !Array.isArray(value) && Object.keys(value).length === 0;
  }
  if (key === 'tool_calls' || key === 'invalid_tool_calls' || key === 'tool_call_chunks') {
    return Array.isArray(value) && value.length === 0;
  }
  return false;
};

/** Names of constructor arguments that are not properties, such as `example`: they belong to the message's dictionary form. */
export const hiddenArguments = (message: Message): string[] | undefined => {
  const given = message.lc_kwargs;
  if (typeof given !== 'object' || given === null) return undefined;
  let hidden: string[] | undefined;
  for (const key in given) {
    if (!(key in message) && given[key] !== undefined) (hidden ??= []).push(key);
  }
  return hidden;
};

/** `{"$":"ai","content":"…","id":"…"}`: only what differs from a new message; chunks are `"ai_chunk"`. */
export const messageTree = (
  message: Message,
  child: (key: string, value: unknown) => unknown,
): Record<string, unknown> => {
  const tree: Record<string, unknown> = { $: isChunk(message) ? `${message.type}_chunk` : message.type };
  let own: Record<string, unknown> | undefined;
  for (const key of Object.keys(message)) {
    const value = message[key];
    if (messageFields.has(key)) {
      if (!isDefault(key, value)) tree[key] = typeof value === 'string' ? value : child(key, value);
    } else if (!structural.has(key)) {
      (own ??= Object.create(null) as Record<string, unknown>)[key] = child(key, value);
    }
  }
  if (own) tree['own'] = own;
  const hidden = hiddenArguments(message);
  if (hidden) {
    const kwargs = Object.create(null) as Record<string, unknown>;
    for (const key of hidden) kwargs[key] = child(key, message.lc_kwargs?.[key]);
    tree['kwargs'] = kwargs;
  }
  return tree;
};

/** The message type that a tag stands for; undefined for other tags. */
export const messageTypeOf = (tag: string): MessageType | undefined => {
  const type = tag.endsWith('_chunk') ? tag.slice(0, -'_chunk'.length) : tag;
  return isMessageType(type) ? type : undefined;
};

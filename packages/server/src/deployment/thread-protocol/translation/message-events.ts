// Channel `messages`: messages of models as content blocks. The engine streams chunks, and does not say when a message is complete: it
// is when the task that streams it has ended. Blocks of a message do not interleave.
import { blocksOf, finalBlock, piecesOf } from './message-pieces.ts';
import { isRecord } from '../../../json/is-record.ts';
import type { Dialect } from './dialect.ts';
import { type JsonRecord, type LoggedEvent, type ProtocolEvent, textOr } from './protocol-event.ts';

interface OpenMessage {
  id: string;
  /** Fields of all its events: a client tells apart messages of one node, which may stream at the same time, by them. */
  ids: { run_id: string; id?: string };
  namespace: readonly string[];
  graph: readonly string[];
  node: string | undefined;
  /** The blocks so far; the last one is open. */
  blocks: { slot: string; block: JsonRecord }[];
  usage: JsonRecord | undefined;
  facts: JsonRecord;
}

const roles: Readonly<Record<string, string>> = {
  ai: 'ai',
  AIMessageChunk: 'ai',
  human: 'human',
  system: 'system',
};

export class MessageEvents {
  readonly #open = new Map<string, OpenMessage>();
  /** Messages that have ended. The engine reports a message that a node returns again. */
  readonly #ended = new Set<string>();
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** `mayBegin`: whether a message that is not known yet begins here, for tasks with this namespace. */
  take(
    { namespace: graph, data }: LoggedEvent,
    mayBegin: (task: readonly string[]) => boolean,
  ): ProtocolEvent[] {
    const [message, metadata] = Array.isArray(data) ? (data as unknown[]) : [];
    if (!isRecord(message) || !isRecord(metadata)) return [];
    const { id } = message;
    const role = roles[textOr(message['type'], '')];
    if (typeof id !== 'string' || role === undefined || this.#ended.has(id)) return [];
    const ns = textOr(metadata['langgraph_checkpoint_ns'], '');
    const namespace = ns === '' ? graph : ns.split('|');
    const node = textOr(metadata['langgraph_node'], undefined);
    const known = this.#open.get(id);
    if (known === undefined && !mayBegin(namespace)) {
      this.#ended.add(id);
      return [];
    }
    const open = known ?? {
      id,
      ids: this.#ids(id),
      namespace,
      graph,
      node,
      blocks: [],
      usage: undefined,
      facts: {},
    };
    const begun = known ? [] : [event(open, startOf(open, role, metadata), 'start')];
    if (Array.isArray(message['tool_call_chunks'])) {
      this.#open.set(id, open);
      return [...begun, ...this.#chunk(open, message)];
    }
    const whole = known ? [] : wholeBlocks(open, message);
    return [...begun, ...whole, ...this.#end(open, message, '')];
  }

  /** Ends the messages of a task that has ended, and of the tasks within it. */
  endTask(task: readonly string[]): ProtocolEvent[] {
    const ended = [...this.#open.values()].filter(({ namespace }) =>
      task.every((segment, at) => namespace[at] === segment),
    );
    return ended.flatMap((open) => this.#end(open, {}, `${open.id}.`));
  }

  /** Ends all messages with an error: what streamed them was lost or stopped. The next attempt may stream them again. */
  abandon(message: string): ProtocolEvent[] {
    const lost = [...this.#open.values()];
    this.#open.clear();
    return lost.map((open) => event(open, { event: 'error', message, code: 'aborted' }, `${open.id}.error`));
  }

  #ids(id: string): OpenMessage['ids'] {
    const run_id = id.replace(/^run-/, '');
    return this.#dialect === 'python' ? { run_id, id } : { run_id };
  }

  #chunk(open: OpenMessage, message: JsonRecord): ProtocolEvent[] {
    const events: ProtocolEvent[] = [];
    for (const [position, { slot, start, delta }] of piecesOf(message).entries()) {
      if (open.blocks.at(-1)?.slot !== slot) {
        events.push(...endBlock(open, ''));
        open.blocks.push({ slot, block: start });
        const index = open.blocks.length - 1;
        events.push(event(open, { event: 'content-block-start', index, content: start }, `${index}.start`));
      }
      const index = open.blocks.length - 1;
      const last = open.blocks[index];
      if (!delta || !last || delta.text === '') continue;
      const { field, text, sent } = delta;
      last.block = { ...last.block, [field]: `${textOr(last.block[field], '')}${text}` };
      const data = { event: 'content-block-delta', index, delta: sent };
      events.push(event(open, data, `${index}.delta.${position}`));
    }
    open.usage = addUsage(open.usage, message['usage_metadata']);
    open.facts = {
      ...open.facts,
      ...(isRecord(message['response_metadata']) ? message['response_metadata'] : {}),
    };
    return isLast(message) ? [...events, ...this.#end(open, {}, '')] : events;
  }

  #end(open: OpenMessage, message: JsonRecord, prefix: string): ProtocolEvent[] {
    this.#open.delete(open.id);
    this.#ended.add(open.id);
    const ended = endBlock(open, prefix);
    const own = message['response_metadata'];
    const facts = { ...open.facts, ...(isRecord(own) ? own : {}) };
    const usage = open.usage ?? (isRecord(message['usage_metadata']) ? message['usage_metadata'] : undefined);
    const data = {
      event: 'message-finish',
      reason: reasonOf(facts),
      ...(usage === undefined ? {} : { usage }),
      ...(Object.keys(facts).length === 0 ? {} : { metadata: facts }),
    };
    return [...ended, event(open, data, `${prefix}finish`)];
  }
}

const event = ({ ids, namespace, graph, node }: OpenMessage, data: object, key: string): ProtocolEvent => ({
  channel: 'messages',
  method: 'messages',
  namespace,
  graph,
  node,
  data: { ...data, ...ids },
  key,
});

const startOf = ({ id }: OpenMessage, role: string, metadata: JsonRecord): object => ({
  event: 'message-start',
  role,
  id,
  ...startMetadata(metadata),
});

const wholeBlocks = (open: OpenMessage, message: JsonRecord): ProtocolEvent[] =>
  blocksOf(message).flatMap(({ start, delta, block }, index) => [
    event(open, { event: 'content-block-start', index, content: start }, `${index}.start`),
    ...(delta
      ? [event(open, { event: 'content-block-delta', index, delta: delta.sent }, `${index}.delta.0`)]
      : []),
    event(open, { event: 'content-block-finish', index, content: block }, `${index}.finish`),
  ]);

const endBlock = (open: OpenMessage, prefix: string): ProtocolEvent[] => {
  const index = open.blocks.length - 1;
  const last = open.blocks[index];
  if (last === undefined) return [];
  const data = { event: 'content-block-finish', index, content: finalBlock(last.block) };
  return [event(open, data, `${prefix}${index}.finish`)];
};

const usageDetails = ['input_token_details', 'output_token_details'] as const;

const addNumbers = (a: JsonRecord, b: JsonRecord): JsonRecord => {
  const sum: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b))
    if (typeof value === 'number') sum[name] = value + (typeof sum[name] === 'number' ? sum[name] : 0);
  return sum;
};

/** Providers report usage in parts, which are added up. */
const addUsage = (before: JsonRecord | undefined, part: unknown): JsonRecord | undefined => {
  if (!isRecord(part)) return before;
  const usage: Record<string, unknown> = { ...addNumbers(before ?? {}, part) };
  for (const name of usageDetails) {
    const [old, added] = [before?.[name], part[name]];
    if (isRecord(added)) usage[name] = addNumbers(isRecord(old) ? old : {}, added);
  }
  return usage;
};

/** Newer models mark the last chunk of a message. */
const isLast = ({ chunk_position }: JsonRecord): boolean => chunk_position === 'last';

const reasonOf = ({ finish_reason, stop_reason }: JsonRecord): string => {
  const reason = finish_reason ?? stop_reason;
  return typeof reason === 'string' ? reason : 'stop';
};

/** Facts about the model, from the metadata of a chunk. */
const startMetadata = (metadata: JsonRecord): { metadata?: JsonRecord } => {
  const facts = Object.entries({
    provider: metadata['ls_provider'],
    model: metadata['ls_model_name'],
    model_type: metadata['ls_model_type'],
  }).filter(([, value]) => typeof value === 'string');
  return facts.length === 0 ? {} : { metadata: Object.fromEntries(facts) };
};

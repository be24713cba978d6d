// The parts of a message or of a chunk of one: text, reasoning, tool calls, and other content blocks.
import { isRecord } from '../../../json/is-record.ts';
import { textOr, type JsonRecord } from './protocol-event.ts';

/** A part of a chunk. Parts with the same `slot` belong to the same content block. */
export interface Piece {
  slot: string;
  /** The block before its first delta. */
  start: JsonRecord;
  /** The delta and the field of the block that it extends; undefined for a block that arrives at once. */
  delta?: { field: string; text: string; sent: JsonRecord };
}

/** The index of a block is a number or a text. */
const slotOf = (index: unknown): string =>
  typeof index === 'string' || typeof index === 'number' ? String(index) : '';

const textPiece = (slot: string, text: string): Piece => ({
  slot: `text ${slot}`,
  start: { type: 'text', text: '' },
  delta: { field: 'text', text, sent: { type: 'text-delta', text } },
});

const reasoningPiece = (slot: string, reasoning: string): Piece => ({
  slot: `reasoning ${slot}`,
  start: { type: 'reasoning', reasoning: '' },
  delta: { field: 'reasoning', text: reasoning, sent: { type: 'reasoning-delta', reasoning } },
});

const dataPiece = (slot: string, block: JsonRecord, data: string): Piece => {
  const { base64: _, data: __, index: ___, ...start } = block;
  return {
    slot: `${textOr(block['type'], '')} ${slot}`,
    start: { ...start, base64: '' },
    delta: { field: 'base64', text: data, sent: { type: 'data-delta', data } },
  };
};

const toolPiece = (chunk: JsonRecord, position: number): Piece => {
  const args = textOr(chunk['args'], '');
  const slot = slotOf(chunk['index'] ?? chunk['id'] ?? position);
  return {
    slot: `tool ${slot}`,
    start: { type: 'tool_call_chunk', id: chunk['id'] ?? null, name: chunk['name'] ?? null, args: '' },
    delta: { field: 'args', text: args, sent: { type: 'tool-call-delta', args } },
  };
};

/** Blocks that providers use for tool calls; the message has the same calls in a field of their own. */
const toolBlocks = new Set(['tool_use', 'input_json_delta', 'tool_call', 'tool_call_chunk', 'function_call']);
const mediaBlocks = new Set(['image', 'audio', 'video', 'file']);
const standardBlocks = new Set([
  ...mediaBlocks,
  'server_tool_call',
  'server_tool_call_result',
  'non_standard',
]);

const blockPieces = (block: unknown, position: number): Piece[] => {
  if (typeof block === 'string') return block === '' ? [] : [textPiece('', block)];
  if (!isRecord(block)) return [];
  const type = textOr(block['type'], '');
  const slot = slotOf(block['index']);
  if (toolBlocks.has(type)) return [];
  if (type === 'text' || type === 'text_delta') {
    const text = textOr(block['text'], '');
    return text === '' ? [] : [textPiece(slot, text)];
  }
  if (type === 'reasoning' || type === 'thinking') {
    const reasoning = textOr(block['reasoning'] ?? block['thinking'], '');
    return reasoning === '' ? [] : [reasoningPiece(slot, reasoning)];
  }
  const data = textOr(block['base64'] ?? block['data'], '');
  if (mediaBlocks.has(type) && slot !== '' && data !== '') return [dataPiece(slot, block, data)];
  const start = standardBlocks.has(type) ? block : { type: 'non_standard', value: block };
  return [{ slot: `block ${slot} ${position}`, start }];
};

const contentPieces = (content: unknown): Piece[] => {
  if (typeof content === 'string') return content === '' ? [] : [textPiece('', content)];
  return Array.isArray(content) ? content.flatMap(blockPieces) : [];
};

/** The parts of a chunk, in order. */
export const piecesOf = ({ content, tool_call_chunks }: JsonRecord): Piece[] => [
  ...contentPieces(content),
  ...(Array.isArray(tool_call_chunks) ? tool_call_chunks.filter(isRecord).map(toolPiece) : []),
];

/** A finished block: chunks of tool calls become tool calls with parsed arguments. */
export const finalBlock = (block: JsonRecord): JsonRecord => {
  if (block['type'] !== 'tool_call_chunk') return block;
  const { id, name } = block;
  const args = textOr(block['args'], '');
  try {
    return { type: 'tool_call', id, name, args: args === '' ? {} : (JSON.parse(args) as unknown) };
  } catch {
    return { type: 'invalid_tool_call', id, name, args, error: 'The arguments are not valid JSON' };
  }
};

/** A content block of a message that arrives at once. */
export interface WholeBlock extends Pick<Piece, 'start' | 'delta'> {
  block: JsonRecord;
}

/** The content blocks of a whole message. Text has a delta, because there are clients that read only deltas. */
export const blocksOf = ({ content, tool_calls }: JsonRecord): WholeBlock[] => [
  ...contentPieces(content).map(({ start, delta }): WholeBlock =>
    delta === undefined
      ? { start, block: start }
      : { start, delta, block: { ...start, [delta.field]: delta.text } },
  ),
  ...(Array.isArray(tool_calls)
    ? tool_calls.filter(isRecord).map((call): WholeBlock => {
        const block = { ...call, type: 'tool_call' };
        return { start: block, block };
      })
    : []),
];

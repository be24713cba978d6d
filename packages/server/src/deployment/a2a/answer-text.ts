// The text of an agent's answer while models stream it. When nodes run in parallel, chunks of several messages alternate: each change to another
// message sends the whole text of that message, so the texts are kept.
import { isRecord } from '../../engine/codec/tagged.ts';
import { contentText } from './task-reader.ts';

const types: ReadonlySet<string> = new Set(['ai', 'AIMessageChunk']);

/** The texts of this many messages are kept. */
const messagesMax = 16;

export interface AnswerChunk {
  text: string;
  /** False when the text replaces what was sent before. */
  append: boolean;
}

export class AnswerText {
  readonly #texts = new Map<string, string>();
  #current: string | undefined;

  /** `data` is a `messages` event of a run, as JSON text. Returns undefined for events without text of an AI message. */
  add(data: string): AnswerChunk | undefined {
    const [message] = JSON.parse(data) as unknown[];
    if (!isRecord(message)) return undefined;
    const { type, id, content, tool_call_chunks } = message;
    const text = contentText(content);
    if (text === '' || typeof id !== 'string' || !types.has(String(type))) return undefined;
    // Chunks of LangGraph.js have the type of whole messages.
    const isChunk = type === 'AIMessageChunk' || Array.isArray(tool_call_chunks);
    const whole = isChunk ? (this.#texts.get(id) ?? '') + text : text;
    this.#keep(id, whole);
    if (this.#current === id && isChunk) return { text, append: true };
    this.#current = id;
    return { text: whole, append: false };
  }

  #keep(id: string, text: string): void {
    this.#texts.delete(id);
    this.#texts.set(id, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > messagesMax && oldest !== undefined) this.#texts.delete(oldest);
  }
}

// Stream mode `messages`: messages while they grow. Events: `messages/metadata` once per message, `messages/partial` with
// the message so far at every token, `messages/complete` for messages that are in the state.
import type { BaseMessage, BaseMessageChunk } from '@langchain/core/messages';

export type Emit = (mode: string, value: unknown) => void;

const isMessage = (value: unknown): value is BaseMessage =>
  typeof value === 'object' && value !== null && '_getType' in value && 'lc_kwargs' in value;

const isChunk = (message: BaseMessage): message is BaseMessageChunk => 'concat' in message;

export class MessageEvents {
  readonly #partial = new Map<string, BaseMessage>();
  readonly #complete = new Set<string>();

  /** A token or a whole message of stream mode `messages`. */
  chunk([message, metadata]: [BaseMessage, Record<string, unknown>], emit: Emit): void {
    const id = message.id;
    if (id === undefined || this.#complete.has(id)) return;
    const before = this.#partial.get(id);
    if (before === undefined) emit('messages/metadata', { [id]: { metadata } });
    const grown = before && isChunk(before) && isChunk(message) ? before.concat(message) : message;
    this.#partial.set(id, grown);
    if (isChunk(message)) emit('messages/partial', [grown]);
    else this.#finish([message], emit);
  }

  /** A state of stream mode `values`: all messages in it are complete. */
  values(state: unknown, emit: Emit): void {
    const messages =
      typeof state === 'object' && state !== null ? (state as { messages?: unknown }).messages : undefined;
    if (!Array.isArray(messages)) return;
    this.#finish(messages.filter(isMessage), emit);
  }

  #finish(messages: BaseMessage[], emit: Emit): void {
    const fresh = messages.filter((message) => message.id !== undefined && !this.#complete.has(message.id));
    for (const message of fresh) {
      this.#complete.add(message.id as string);
      this.#partial.delete(message.id as string);
    }
    if (fresh.length > 0) emit('messages/complete', fresh);
  }
}

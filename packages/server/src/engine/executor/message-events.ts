// Stream mode `messages`: messages while they grow. Events: `messages/metadata` once per message of a model, `messages/partial` with the
// message so far at every token, `messages/complete` for messages that are in the state.
import type { BaseMessage, BaseMessageChunk } from '@langchain/core/messages';

type Emit = (mode: string, value: unknown) => void;

const isMessage = (value: unknown): value is BaseMessage =>
  typeof value === 'object' && value !== null && '_getType' in value && 'lc_kwargs' in value;

const isChunk = (message: BaseMessage): message is BaseMessageChunk => 'concat' in message;

export class MessageEvents {
  readonly #emit: Emit;
  readonly #partial = new Map<string, BaseMessage>();
  readonly #complete = new Set<string>();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** A token of a model. */
  token(message: BaseMessage & { id: string }, metadata: Record<string, unknown>): void {
    const { id } = message;
    const before = this.#partial.get(id);
    if (before === undefined) this.#emit('messages/metadata', { [id]: { metadata } });
    const grown = before && isChunk(before) && isChunk(message) ? before.concat(message) : message;
    this.#partial.set(id, grown);
    this.#emit('messages/partial', [grown]);
  }

  /** A state of stream mode `values`: all messages in it are complete. */
  values(state: unknown): void {
    const messages =
      typeof state === 'object' && state !== null ? (state as { messages?: unknown }).messages : undefined;
    if (!Array.isArray(messages)) return;
    const fresh = messages.filter(isMessage).filter(({ id }) => id !== undefined && !this.#complete.has(id));
    for (const { id } of fresh) {
      this.#complete.add(id as string);
      this.#partial.delete(id as string);
    }
    if (fresh.length > 0) this.#emit('messages/complete', fresh);
  }
}

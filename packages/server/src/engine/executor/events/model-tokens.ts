// The tokens of all chat models of a run, including subgraphs, for the stream mode `messages`.
import { BaseCallbackHandler, type HandleLLMNewTokenCallbackFields } from '@langchain/core/callbacks/base';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';

type Metadata = Record<string, unknown>;

/** Receives a token as a message with the id that the whole message will have. */
export type TakeToken = (message: BaseMessage & { id: string }, metadata: Metadata) => void;

const hidingTags = ['nostream', 'langsmith:nostream', 'langsmith:hidden'];

export class ModelTokens extends BaseCallbackHandler {
  readonly name = 'svc_model_tokens';
  /** Makes models stream if they can. */
  readonly lc_prefer_streaming = true;
  readonly #take: TakeToken;
  readonly #models = new Map<string, { metadata: Metadata; id?: string }>();

  constructor(take: TakeToken) {
    super({ _awaitHandler: true });
    this.#take = take;
  }

  override handleChatModelStart(
    ...[, , runId, , , tags = [], metadata]: Parameters<
      NonNullable<BaseCallbackHandler['handleChatModelStart']>
    >
  ): void {
    if (metadata && !hidingTags.some((tag) => tags.includes(tag))) this.#models.set(runId, { metadata });
  }

  override handleLLMNewToken(
    ...[token, , runId, , , fields]: Parameters<NonNullable<BaseCallbackHandler['handleLLMNewToken']>>
  ): void {
    const model = this.#models.get(runId);
    if (!model) return;
    const message = messageOf(fields) ?? new AIMessageChunk({ content: token });
    // As in the engine, the whole message gets the id of the first token.
    const id = (model.id ??= message.id ?? `run-${runId}`);
    if (message.id !== id) Object.assign(message, { id }).lc_kwargs['id'] = id;
    this.#take(message as BaseMessage & { id: string }, model.metadata);
  }

  override handleLLMEnd(_: unknown, runId: string): void {
    this.#models.delete(runId);
  }

  override handleLLMError(_: unknown, runId: string): void {
    this.#models.delete(runId);
  }
}

const messageOf = (fields: HandleLLMNewTokenCallbackFields | undefined): BaseMessage | undefined =>
  fields?.chunk && 'message' in fields.chunk ? (fields.chunk.message as BaseMessage) : undefined;

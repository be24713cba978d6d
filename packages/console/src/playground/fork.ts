// Where a conversation has to be forked, so that an edited message replaces the original one.
import type { Client, ThreadState } from '@svc/sdk';

/** A fork looks this far back for the checkpoint before a message. */
const historyMax = 1_000;

type Checkpoint = Pick<ThreadState, 'checkpoint_id' | 'parent_checkpoint_id' | 'values'>;

/**
 * The newest checkpoint on the way to `headId` whose conversation lacks the message: a run from it, with the edited message, makes a
 * fork. Undefined when the history that was read does not reach back far enough.
 */
export const forkPoint = (
  history: readonly Checkpoint[],
  headId: string,
  { channel, messageId }: { channel: string; messageId: string },
): string | undefined => {
  const byId = new Map(history.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  for (let at = byId.get(headId); at !== undefined; at = byId.get(at.parent_checkpoint_id)) {
    const messages = (at.values as Record<string, unknown> | null)?.[channel];
    const has =
      Array.isArray(messages) && messages.some((message) => (message as { id?: unknown }).id === messageId);
    if (!has) return at.checkpoint_id ?? undefined;
  }
  return undefined;
};

/** Reads the history of the thread for `forkPoint()`. Throws when the message is too old. */
export const findForkPoint = async (
  client: Client,
  threadId: string,
  headId: string,
  message: { channel: string; messageId: string },
): Promise<string> => {
  const history = await client.threads.getHistory(threadId, {
    limit: historyMax,
    select: ['checkpoint_id', 'parent_checkpoint_id', `values.${message.channel}`],
  });
  const found = forkPoint(history, headId, message);
  if (found === undefined)
    throw new Error(`The message is older than the newest ${historyMax} checkpoints of the thread.`);
  return found;
};

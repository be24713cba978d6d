// What the newest turn of a conversation has used: the messages behind the last one of the person.
import { isObject, type Message } from '../messages/read-messages.ts';

export interface TurnUsage {
  input: number;
  output: number;
  /** In dollars, where the messages have it. */
  cost: number | undefined;
}

const costOf = ({ raw }: Message): number | undefined => {
  const usage = 'usage_metadata' in raw ? raw.usage_metadata : undefined;
  const cost = isObject(usage) ? usage['total_cost'] : undefined;
  return typeof cost === 'number' ? cost : undefined;
};

/** Undefined where no message has a usage. */
export const turnUsage = (messages: readonly Message[]): TurnUsage | undefined => {
  const turn = messages.slice(messages.findLastIndex(({ kind }) => kind === 'human') + 1);
  let total: TurnUsage | undefined;
  for (const message of turn) {
    if (!message.usage) continue;
    const { input = 0, output = 0, cost } = total ?? {};
    const added = costOf(message);
    total = {
      input: input + message.usage.input,
      output: output + message.usage.output,
      cost: added === undefined ? cost : (cost ?? 0) + added,
    };
  }
  return total;
};

// Computes the cost of tokens as exact decimals.
import { addDecimals, type Decimal, decimalText, parseDecimal, timesDecimal } from '../decimal.ts';

export interface Price {
  prompt_cost: string;
  completion_cost: string;
  prompt_cost_details: Record<string, string>;
  completion_cost_details: Record<string, string>;
}

export interface Tokens {
  prompt_tokens: number;
  completion_tokens: number;
  /** Number of prompt tokens by kind, such as cache_read. */
  prompt_details: Record<string, unknown>;
  completion_details: Record<string, unknown>;
}

export interface Cost {
  prompt_cost: string;
  completion_cost: string;
  total_cost: string;
  prompt_cost_details: Record<string, string>;
  completion_cost_details: Record<string, string>;
}

export const costOf = (tokens: Tokens, price: Price): Cost => {
  const prompt = side(
    tokens.prompt_tokens,
    tokens.prompt_details,
    price.prompt_cost,
    price.prompt_cost_details,
  );
  const completion = side(
    tokens.completion_tokens,
    tokens.completion_details,
    price.completion_cost,
    price.completion_cost_details,
  );
  return {
    prompt_cost: decimalText(prompt.sum),
    completion_cost: decimalText(completion.sum),
    total_cost: decimalText(addDecimals(prompt.sum, completion.sum)),
    prompt_cost_details: prompt.details,
    completion_cost_details: completion.details,
  };
};

const zero: Decimal = { units: 0n, scale: 0 };

/** Cost of the prompt or the completion. Kinds with their own price cost that; all other tokens cost `plain`. */
const side = (
  count: number,
  kinds: Record<string, unknown>,
  plain: string,
  prices: Record<string, string>,
): { sum: Decimal; details: Record<string, string> } => {
  let rest = count;
  let sum = zero;
  const details: [string, string][] = [];
  for (const [kind, price] of Object.entries(prices)) {
    const reported = kinds[kind];
    if (typeof reported !== 'number' || !Number.isSafeInteger(reported) || reported <= 0) continue;
    const ofKind = Math.min(reported, rest);
    rest -= ofKind;
    const cost = times(ofKind, price);
    details.push([kind, decimalText(cost)]);
    sum = addDecimals(sum, cost);
  }
  return { sum: addDecimals(sum, times(rest, plain)), details: Object.fromEntries(details) };
};

const times = (count: number, price: string): Decimal =>
  timesDecimal({ units: BigInt(count), scale: 0 }, parseDecimal(price) ?? zero);

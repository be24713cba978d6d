// Tokens and costs, as models and tracers report them.

export interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
  /** Decimals. */
  prompt_cost?: string;
  completion_cost?: string;
  total_cost?: string;
  details: Record<string, Record<string, unknown>>;
}

type Fields = Record<string, unknown>;

const asFields = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const count = (...values: unknown[]): number | undefined =>
  values.find((value): value is number => Number.isSafeInteger(value) && (value as number) >= 0);

const cost = (...values: unknown[]): string | undefined => {
  for (const value of values) {
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
    if (typeof value === 'string' && /^\d{1,20}(?:\.\d{1,30})?$/.test(value)) return value;
  }
  return undefined;
};

/** What a message of a LangChain generation says, wherever its serialized form keeps it. */
const ofGenerations = (outputs: Fields): Fields[] => {
  const { generations } = outputs;
  if (!Array.isArray(generations)) return [];
  return generations.flat().flatMap((generation: unknown) => {
    const message = asFields(asFields(generation)?.['message']);
    const usage =
      asFields(message?.['usage_metadata']) ?? asFields(asFields(message?.['kwargs'])?.['usage_metadata']);
    return usage ? [usage] : [];
  });
};

const ofOutputs = (outputs: Fields): Fields[] => {
  const llm = asFields(outputs['llmOutput']) ?? asFields(outputs['llm_output']);
  const direct =
    asFields(outputs['usage_metadata']) ??
    asFields(asFields(outputs['message'])?.['usage_metadata']) ??
    asFields(outputs['usage']);
  if (direct) return [direct];
  const generated = ofGenerations(outputs);
  if (generated.length > 0) return generated;
  const reported = asFields(llm?.['token_usage']) ?? asFields(llm?.['tokenUsage']);
  return reported ? [reported] : [];
};

/** Of a run whose outputs are a model's, or that says itself what it used. Undefined when nothing is said. */
export const usageOf = (outputs: unknown, metadata: Fields, isModel: boolean): Usage | undefined => {
  const said = asFields(metadata['usage_metadata']);
  const shown = asFields(outputs);
  // Several generations add up. What the tracer repeats in the metadata fills in what the outputs leave open.
  const counted = (isModel && shown ? ofOutputs(shown) : []).map(toUsage);
  const [first, ...others] = counted.length > 0 ? counted : said ? [toUsage(said)] : [];
  if (first === undefined) return undefined;
  return { ...(said ? toUsage(said) : {}), ...others.reduce(add, first) };
};

const toUsage = (said: Fields): Usage => {
  const prompt_tokens = count(said['input_tokens'], said['prompt_tokens'], said['promptTokens']);
  const completion_tokens = count(said['output_tokens'], said['completion_tokens'], said['completionTokens']);
  const total_tokens =
    count(said['total_tokens'], said['totalTokens']) ??
    (prompt_tokens === undefined && completion_tokens === undefined
      ? undefined
      : (prompt_tokens ?? 0) + (completion_tokens ?? 0));
  const details: Usage['details'] = {};
  for (const [ours, ...theirs] of detailNames) {
    const found = theirs.map((name) => asFields(said[name])).find((value) => value !== undefined);
    if (found) details[ours] = found;
  }
  return definedOnly({
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_cost: cost(said['input_cost'], said['prompt_cost']),
    completion_cost: cost(said['output_cost'], said['completion_cost']),
    total_cost: cost(said['total_cost']),
    details,
  });
};

const detailNames = [
  ['prompt_token_details', 'input_token_details', 'prompt_tokens_details'],
  ['completion_token_details', 'output_token_details', 'completion_tokens_details'],
  ['prompt_cost_details', 'input_cost_details'],
  ['completion_cost_details', 'output_cost_details'],
] as const;

const add = (a: Usage, b: Usage): Usage => ({
  ...a,
  ...definedOnly({
    prompt_tokens: sum(a.prompt_tokens, b.prompt_tokens),
    completion_tokens: sum(a.completion_tokens, b.completion_tokens),
    total_tokens: sum(a.total_tokens, b.total_tokens),
    details: a.details,
  }),
});

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : a + b;

type Loose<T> = { [K in keyof T]: T[K] | undefined };

const definedOnly = (usage: Loose<Usage>): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined)) as unknown as Usage;

// Reads tokens and costs from the outputs and metadata of a trace run, in the forms of LangChain, OpenAI and others.
import { isRecord } from '../../json/is-record.ts';

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

const asFields = (value: unknown): Fields | undefined => (isRecord(value) ? value : undefined);

const count = (...values: unknown[]): number | undefined =>
  values.find((value): value is number => Number.isSafeInteger(value) && (value as number) >= 0);

const cost = (...values: unknown[]): string | undefined => {
  for (const value of values) {
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
    if (typeof value === 'string' && /^\d{1,20}(?:\.\d{1,30})?$/.test(value)) return value;
  }
  return undefined;
};

/** Usage metadata of the messages in LangChain generations, also in their serialized form. */
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

/**
 * Usage of a run: from its outputs if it is a run of a model, else from its metadata. Undefined when neither reports any.
 */
export const usageOf = (outputs: unknown, metadata: Fields, isModel: boolean): Usage | undefined => {
  const inMetadata = asFields(metadata['usage_metadata']);
  const outputFields = asFields(outputs);
  // Usages of several generations are added. Fields that the outputs lack are taken from the metadata.
  const counted = (isModel && outputFields ? ofOutputs(outputFields) : []).map(toUsage);
  const [first, ...others] = counted.length > 0 ? counted : inMetadata ? [toUsage(inMetadata)] : [];
  if (first === undefined) return undefined;
  return { ...(inMetadata ? toUsage(inMetadata) : {}), ...others.reduce(add, first) };
};

const toUsage = (fields: Fields): Usage => {
  const prompt_tokens = count(fields['input_tokens'], fields['prompt_tokens'], fields['promptTokens']);
  const completion_tokens = count(
    fields['output_tokens'],
    fields['completion_tokens'],
    fields['completionTokens'],
  );
  const total_tokens =
    count(fields['total_tokens'], fields['totalTokens']) ??
    (prompt_tokens === undefined && completion_tokens === undefined
      ? undefined
      : (prompt_tokens ?? 0) + (completion_tokens ?? 0));
  const details: Usage['details'] = {};
  for (const [ownName, ...sentNames] of detailNames) {
    const found = sentNames.map((name) => asFields(fields[name])).find((value) => value !== undefined);
    if (found) details[ownName] = found;
  }
  return definedOnly({
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_cost: cost(fields['input_cost'], fields['prompt_cost']),
    completion_cost: cost(fields['output_cost'], fields['completion_cost']),
    total_cost: cost(fields['total_cost']),
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

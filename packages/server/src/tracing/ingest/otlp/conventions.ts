// What a span says of models, tokens and conversations, by the conventions of OpenTelemetry for generative AI, OpenInference,
// OpenLLMetry and LangSmith.
import type { JsonBudget } from '../../../parsing/json-limits.ts';
import { fromJsonText } from './payloads.ts';
import type { Attributes } from './span.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first of these attributes that is a text with something in it. */
export const textAt = (attributes: Attributes, ...names: string[]): string | undefined => {
  for (const name of names) {
    const value = attributes.get(name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
};

const countAt = (attributes: Attributes, ...names: string[]): number | undefined => {
  for (const name of names) {
    const value = attributes.get(name);
    const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count;
  }
  return undefined;
};

const runTypes = new Map([
  ['chat', 'llm'],
  ['completion', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['llm', 'llm'],
  ['embedding', 'embedding'],
  ['embeddings', 'embedding'],
  ['execute_tool', 'tool'],
  ['tool', 'tool'],
  ['retriever', 'retriever'],
  ['retrieval', 'retriever'],
  ['reranker', 'retriever'],
  ['prompt', 'prompt'],
  ['parser', 'parser'],
]);

export const runTypeOf = (attributes: Attributes): string => {
  const own = textAt(attributes, 'langsmith.span.kind');
  if (own !== undefined) return own.toLowerCase();
  const said = textAt(
    attributes,
    'openinference.span.kind',
    'gen_ai.operation.name',
    'traceloop.llm.request.type',
    'llm.request.type',
    'traceloop.span.kind',
  );
  if (said !== undefined) return runTypes.get(said.toLowerCase()) ?? 'chain';
  if (attributes.has('gen_ai.tool.name')) return 'tool';
  return attributes.has('gen_ai.request.model') || attributes.has('llm.model_name') ? 'llm' : 'chain';
};

const definedOnly = (fields: Fields): Fields | undefined => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
};

/** In the form in which other tracers say it. */
export const usageMetadataOf = (attributes: Attributes, budget: JsonBudget): Fields | undefined => {
  const said = fromJsonText(attributes.get('langsmith.usage_metadata'), budget);
  if (isFields(said)) return said;
  const input_token_details = definedOnly({
    cache_read: countAt(
      attributes,
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'llm.token_count.prompt_details.cache_read',
    ),
    cache_creation: countAt(
      attributes,
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'llm.token_count.prompt_details.cache_write',
    ),
    audio: countAt(attributes, 'llm.token_count.prompt_details.audio'),
  });
  const output_token_details = definedOnly({
    reasoning: countAt(
      attributes,
      'gen_ai.usage.reasoning.output_tokens',
      'llm.token_count.completion_details.reasoning',
    ),
    audio: countAt(attributes, 'llm.token_count.completion_details.audio'),
  });
  return definedOnly({
    input_tokens: countAt(
      attributes,
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
    ),
    output_tokens: countAt(
      attributes,
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
    ),
    total_tokens: countAt(
      attributes,
      'gen_ai.usage.total_tokens',
      'llm.usage.total_tokens',
      'llm.token_count.total',
    ),
    input_token_details,
    output_token_details,
  });
};

const requestPrefix = 'gen_ai.request.';

export const invocationParamsOf = (attributes: Attributes, budget: JsonBudget): Fields | undefined => {
  const params = new Map<string, unknown>();
  const whole = fromJsonText(attributes.get('llm.invocation_parameters'), budget);
  if (isFields(whole)) for (const [key, value] of Object.entries(whole)) params.set(key, value);
  for (const [name, value] of attributes) {
    const key = name.slice(requestPrefix.length);
    if (name.startsWith(requestPrefix) && key !== '') params.set(key, value);
  }
  const tools = fromJsonText(attributes.get('gen_ai.tool.definitions') ?? attributes.get('tools'), budget);
  if (tools !== undefined) params.set('tools', tools);
  const tool_name = textAt(attributes, 'gen_ai.tool.name');
  if (tool_name !== undefined) params.set('tool_name', tool_name);
  return params.size > 0 ? Object.fromEntries(params) : undefined;
};

const copied = [
  ['ls_model_name', 'gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name'],
  ['ls_provider', 'gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system'],
] as const;

const metadataPrefixes = ['langsmith.metadata.', 'traceloop.association.properties.'];
/** Read by other means, and kept nowhere twice. */
const elsewhere = new Set([
  'metadata',
  'langsmith.usage_metadata',
  'langsmith.span.tags',
  'langsmith.span.dotted_order',
]);

/** Everything that is said of a span and is in no other field of its run. The more special has the last word. */
export const metadataOf = (
  attributes: Attributes,
  resource: Attributes,
  used: ReadonlySet<string>,
  budget: JsonBudget,
): Map<string, unknown> => {
  const metadata = new Map(resource);
  for (const [name, value] of attributes)
    if (
      !used.has(name) &&
      !elsewhere.has(name) &&
      !metadataPrefixes.some((prefix) => name.startsWith(prefix))
    )
      metadata.set(name, value);
  const said = fromJsonText(attributes.get('metadata'), budget);
  if (isFields(said)) for (const [key, value] of Object.entries(said)) metadata.set(key, value);
  else if (said !== undefined) metadata.set('metadata', said);
  for (const [key, ...names] of copied) {
    const value = textAt(attributes, ...names);
    if (value !== undefined) metadata.set(key, value);
  }
  for (const [name, value] of attributes)
    for (const prefix of metadataPrefixes)
      if (name.startsWith(prefix)) metadata.set(name.slice(prefix.length), value);
  const usage = usageMetadataOf(attributes, budget);
  if (usage !== undefined) metadata.set('usage_metadata', usage);
  // The keys of other tracers come first, as in the store; these name the conversation where none of them does.
  if (!['session_id', 'conversation_id', 'thread_id'].some((key) => metadata.has(key))) {
    const conversation = textAt(metadata, 'gen_ai.conversation.id', 'session.id');
    if (conversation !== undefined) metadata.set('thread_id', conversation);
  }
  return metadata;
};

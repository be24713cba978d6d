// Reads models, tokens and conversations from the attributes of a span, in the semantic conventions of OpenTelemetry (GenAI),
// OpenInference, OpenLLMetry and LangSmith.
import type { JsonBudget } from '../../../json/json-limits.ts';
import { fromJsonText } from './payloads.ts';
import type { Attributes } from './span.ts';
import { isRecord } from '../../../json/is-record.ts';

type Fields = Record<string, unknown>;

/** The value of the first of these attributes that is a non-empty string. */
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
  ['ai.generatetext.dogenerate', 'llm'],
  ['ai.streamtext.dostream', 'llm'],
  ['ai.generateobject.dogenerate', 'llm'],
  ['ai.streamobject.dostream', 'llm'],
  ['ai.embed.doembed', 'embedding'],
  ['ai.embedmany.doembed', 'embedding'],
  ['ai.toolcall', 'tool'],
]);

export const runTypeOf = (attributes: Attributes): string => {
  const own = textAt(attributes, 'langsmith.span.kind');
  if (own !== undefined) return own.toLowerCase();
  const kind = textAt(
    attributes,
    'openinference.span.kind',
    'gen_ai.operation.name',
    'traceloop.llm.request.type',
    'llm.request.type',
    'traceloop.span.kind',
    'ai.operationId',
  );
  if (kind !== undefined) return runTypes.get(kind.toLowerCase()) ?? 'chain';
  if (attributes.has('gen_ai.tool.name')) return 'tool';
  return attributes.has('gen_ai.request.model') || attributes.has('llm.model_name') ? 'llm' : 'chain';
};

const definedOnly = (fields: Fields): Fields | undefined => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
};

/** Usage in the form of `usage_metadata`, which other tracers send. */
export const usageMetadataOf = (attributes: Attributes, budget: JsonBudget): Fields | undefined => {
  const given = fromJsonText(attributes.get('langsmith.usage_metadata'), budget);
  if (isRecord(given)) return given;
  const input_token_details = definedOnly({
    cache_read: countAt(
      attributes,
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'llm.token_count.prompt_details.cache_read',
      'gen_ai.usage.details.cache_read_tokens',
      'gen_ai.usage.details.cache_read_input_tokens',
      'ai.usage.cachedInputTokens',
      'ai.usage.inputTokenDetails.cacheReadTokens',
    ),
    cache_creation: countAt(
      attributes,
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'llm.token_count.prompt_details.cache_write',
      'gen_ai.usage.details.cache_write_tokens',
      'gen_ai.usage.details.cache_creation_input_tokens',
      'ai.usage.inputTokenDetails.cacheWriteTokens',
    ),
    audio: countAt(attributes, 'llm.token_count.prompt_details.audio'),
  });
  const output_token_details = definedOnly({
    reasoning: countAt(
      attributes,
      'gen_ai.usage.reasoning.output_tokens',
      'llm.token_count.completion_details.reasoning',
      'gen_ai.usage.details.reasoning_tokens',
      'ai.usage.reasoningTokens',
      'ai.usage.outputTokenDetails.reasoningTokens',
    ),
    audio: countAt(attributes, 'llm.token_count.completion_details.audio'),
  });
  return definedOnly({
    input_tokens: countAt(
      attributes,
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.inputTokens',
      'ai.usage.promptTokens',
      'ai.usage.tokens',
    ),
    output_tokens: countAt(
      attributes,
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.outputTokens',
      'ai.usage.completionTokens',
    ),
    total_tokens: countAt(
      attributes,
      'gen_ai.usage.total_tokens',
      'llm.usage.total_tokens',
      'llm.token_count.total',
      'ai.usage.totalTokens',
    ),
    input_token_details,
    output_token_details,
  });
};

const requestPrefix = 'gen_ai.request.';

export const invocationParamsOf = (attributes: Attributes, budget: JsonBudget): Fields | undefined => {
  const params = new Map<string, unknown>();
  const whole = fromJsonText(attributes.get('llm.invocation_parameters'), budget);
  if (isRecord(whole)) for (const [key, value] of Object.entries(whole)) params.set(key, value);
  for (const [name, value] of attributes) {
    const key = name.slice(requestPrefix.length);
    if (name.startsWith(requestPrefix) && key !== '') params.set(key, value);
  }
  const tools = fromJsonText(
    attributes.get('gen_ai.tool.definitions') ?? attributes.get('tools') ?? attributes.get('ai.prompt.tools'),
    budget,
  );
  if (tools !== undefined) params.set('tools', tools);
  const tool_name = textAt(attributes, 'gen_ai.tool.name', 'ai.toolCall.name');
  if (tool_name !== undefined) params.set('tool_name', tool_name);
  return params.size > 0 ? Object.fromEntries(params) : undefined;
};

const copied = [
  [
    'ls_model_name',
    'gen_ai.response.model',
    'gen_ai.request.model',
    'llm.model_name',
    'ai.response.model',
    'ai.model.id',
  ],
  ['ls_provider', 'gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider'],
] as const;

/** The AI SDK adds the kind of API to the provider: `openai.chat`. */
const apiOfProvider = /\.(?:chat|responses|messages|completion|embedding|image|generative-ai)$/;

const metadataPrefixes = [
  'langsmith.metadata.',
  'traceloop.association.properties.',
  'ai.telemetry.metadata.',
];
/** Attributes that are stored in other fields or in another form. */
const excluded = new Set([
  'metadata',
  'langsmith.usage_metadata',
  'langsmith.span.tags',
  'langsmith.span.dotted_order',
]);

/**
 * All attributes that no other field of the run contains, as metadata. Attributes of the span override those of the resource; explicit
 * metadata attributes override both.
 */
export const metadataOf = (
  attributes: Attributes,
  resource: Attributes,
  used: ReadonlySet<string>,
  budget: JsonBudget,
): Map<string, unknown> => {
  const metadata = new Map(resource);
  for (const [name, value] of attributes)
    if (!used.has(name) && !excluded.has(name) && !metadataPrefixes.some((prefix) => name.startsWith(prefix)))
      metadata.set(name, value);
  const given = fromJsonText(attributes.get('metadata'), budget);
  if (isRecord(given)) for (const [key, value] of Object.entries(given)) metadata.set(key, value);
  else if (given !== undefined) metadata.set('metadata', given);
  for (const [key, ...names] of copied) {
    const value = textAt(attributes, ...names);
    if (value !== undefined)
      metadata.set(key, key === 'ls_provider' ? value.replace(apiOfProvider, '') : value);
  }
  for (const [name, value] of attributes)
    for (const prefix of metadataPrefixes)
      if (name.startsWith(prefix)) metadata.set(name.slice(prefix.length), value);
  const usage = usageMetadataOf(attributes, budget);
  if (usage !== undefined) metadata.set('usage_metadata', usage);
  // The keys that other tracers use for the thread have priority. The attributes of the conventions are used when there are none.
  if (!['session_id', 'conversation_id', 'thread_id'].some((key) => metadata.has(key))) {
    const conversation = textAt(metadata, 'gen_ai.conversation.id', 'session.id');
    if (conversation !== undefined) metadata.set('thread_id', conversation);
  }
  return metadata;
};

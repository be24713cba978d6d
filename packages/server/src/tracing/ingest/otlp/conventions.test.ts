// What a trace run has of a span, in each of the conventions.
import { describe, expect, it } from 'vitest';
import { ingestLimits, JsonBudget } from '../../../json/json-limits.ts';
import { toRunWrite } from '../run-write.ts';
import { toRun } from './to-run.ts';
import type { Span, SpanEvent } from './span.ts';

type Given = Record<string, unknown>;

const runOf = (given: Given, events: [string, Given][] = []) => {
  const toEvent = ([name, attributes]: [string, Given]): SpanEvent => ({
    name,
    time: 0n,
    attributes: new Map(Object.entries(attributes)),
  });
  const span: Span = {
    trace_id: 'a'.repeat(32),
    span_id: 'b'.repeat(16),
    parent_span_id: '',
    trace_state: '',
    name: 'span',
    kind: 1,
    start: 1n,
    end: 2n,
    attributes: new Map(Object.entries(given)),
    events: events.map(toEvent),
    links: [],
    status: { code: 0, message: '' },
  };
  const origin = { resource: new Map(), scope: { name: 's', version: '1' } };
  const run = toRun(span, origin, undefined, new JsonBudget(ingestLimits));
  const { fields } = toRunWrite(run);
  const extra = run.payloads.extra?.value as { metadata: Given; invocation_params?: Given };
  return {
    name: run.main['name'],
    run_type: run.main['run_type'],
    inputs: run.payloads.inputs?.value,
    outputs: run.payloads.outputs?.value,
    metadata: extra.metadata,
    prompt_tokens: fields.prompt_tokens,
    completion_tokens: fields.completion_tokens,
    total_tokens: fields.total_tokens,
    details:
      typeof fields.usage_details === 'string' ? (JSON.parse(fields.usage_details) as unknown) : undefined,
  };
};

const json = JSON.stringify;
const user = { role: 'user', content: 'hi' };
const assistant = { role: 'assistant', content: 'ho' };

describe('a span', () => {
  it.each<[string, Given, [string, Given][], object]>([
    [
      'AI SDK: generateText',
      {
        'ai.operationId': 'ai.generateText',
        'ai.prompt': json({ system: 's', prompt: 'hi' }),
        'ai.response.text': 'ho',
        'ai.response.finishReason': 'stop',
        'ai.model.id': 'gpt-4o',
        'ai.model.provider': 'openai.chat',
        'ai.usage.promptTokens': 3,
        'ai.usage.completionTokens': 2,
        'ai.telemetry.metadata.customer': 'acme',
      },
      [],
      {
        run_type: 'chain',
        inputs: { system: 's', prompt: 'hi' },
        outputs: { text: 'ho' },
        prompt_tokens: '3',
        completion_tokens: '2',
        metadata: { ls_model_name: 'gpt-4o', ls_provider: 'openai', customer: 'acme' },
      },
    ],
    [
      'AI SDK: doStream with a tool call, cached and reasoning tokens',
      {
        'ai.operationId': 'ai.streamText.doStream',
        'ai.prompt.messages': json([user]),
        'ai.response.toolCalls': json([{ toolName: 'weather' }]),
        'gen_ai.system': 'openai.responses',
        'gen_ai.request.model': 'gpt-5',
        'ai.usage.inputTokens': 10,
        'ai.usage.outputTokens': 5,
        'ai.usage.totalTokens': 15,
        'ai.usage.cachedInputTokens': 4,
        'ai.usage.reasoningTokens': 2,
      },
      [],
      {
        run_type: 'llm',
        inputs: { messages: [user] },
        outputs: { tool_calls: [{ toolName: 'weather' }] },
        total_tokens: '15',
        details: {
          prompt_token_details: { cache_read: 4 },
          completion_token_details: { reasoning: 2 },
        },
        metadata: { ls_provider: 'openai' },
      },
    ],
    [
      'AI SDK 6: details of tokens',
      {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.usage.inputTokens': 10,
        'ai.usage.outputTokens': 5,
        'ai.usage.inputTokenDetails.cacheReadTokens': 4,
        'ai.usage.inputTokenDetails.cacheWriteTokens': 1,
        'ai.usage.outputTokenDetails.reasoningTokens': 2,
      },
      [],
      {
        run_type: 'llm',
        details: {
          prompt_token_details: { cache_read: 4, cache_creation: 1 },
          completion_token_details: { reasoning: 2 },
        },
      },
    ],
    [
      'AI SDK: toolCall',
      {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': 'weather',
        'ai.toolCall.args': json({ city: 'Bern' }),
        'ai.toolCall.result': '"sunny"',
      },
      [],
      { name: 'weather', run_type: 'tool', inputs: { city: 'Bern' }, outputs: { output: '"sunny"' } },
    ],
    [
      'pydantic-ai: agent',
      {
        'gen_ai.operation.name': 'invoke_agent',
        'pydantic_ai.all_messages': json([user, assistant]),
        final_result: 'ho',
        'gen_ai.usage.input_tokens': 9,
        'gen_ai.usage.output_tokens': 1,
        'gen_ai.usage.details.cache_read_tokens': 6,
        'gen_ai.usage.details.cache_write_tokens': 2,
      },
      [],
      {
        run_type: 'chain',
        inputs: { messages: [user, assistant] },
        outputs: { output: 'ho' },
        details: { prompt_token_details: { cache_read: 6, cache_creation: 2 } },
      },
    ],
    [
      'pydantic-ai: tool',
      { 'gen_ai.tool.name': 'roll', tool_arguments: json({ sides: 6 }), tool_response: '4' },
      [],
      { run_type: 'tool', inputs: { sides: 6 }, outputs: { output: '4' } },
    ],
    [
      'Logfire: events',
      {
        'gen_ai.request.model': 'gpt-4o',
        events: json([
          { 'event.name': 'gen_ai.user.message', ...user },
          { 'event.name': 'gen_ai.choice', index: 0, message: assistant },
        ]),
      },
      [],
      {
        run_type: 'llm',
        inputs: { messages: [user] },
        outputs: { messages: [{ ...assistant, index: 0 }] },
      },
    ],
    [
      'events of prompts and completions',
      { 'gen_ai.request.model': 'm' },
      [
        ['gen_ai.content.prompt', { 'gen_ai.prompt': json([user]) }],
        ['gen_ai.content.completion', { 'gen_ai.completion': json([assistant]) }],
      ],
      { inputs: { input: [user] }, outputs: { output: [assistant] } },
    ],
    [
      'an event of inference details',
      { 'gen_ai.operation.name': 'chat' },
      [
        [
          'gen_ai.client.inference.operation.details',
          { 'gen_ai.input.messages': json([user]), 'gen_ai.output.messages': json([assistant]) },
        ],
      ],
      { inputs: { messages: [user] }, outputs: { messages: [assistant] } },
    ],
    [
      'events whose content is one attribute',
      { 'gen_ai.operation.name': 'chat' },
      [
        ['gen_ai.user.message', { 'gen_ai.event.content': json({ content: 'hi' }) }],
        ['gen_ai.choice', { 'gen_ai.event.content': json({ index: 0, message: { content: 'ho' } }) }],
      ],
      { inputs: { messages: [user] }, outputs: { messages: [{ ...assistant, index: 0 }] } },
    ],
    [
      'documents of a retrieval',
      {
        'gen_ai.operation.name': 'retrieval',
        'gen_ai.retrieval.query.text': 'why',
        'gen_ai.retrieval.documents': json([{ id: 'd', score: 0.5 }]),
      },
      [],
      { run_type: 'retriever', inputs: { query: 'why' }, outputs: { documents: [{ id: 'd', score: 0.5 }] } },
    ],
    [
      'documents of a reranker',
      {
        'openinference.span.kind': 'RERANKER',
        'reranker.query': 'why',
        'reranker.output_documents.0.document.content': 'because',
      },
      [],
      { run_type: 'retriever', inputs: { query: 'why' }, outputs: { documents: [{ content: 'because' }] } },
    ],
    [
      'a template of a prompt',
      {
        'openinference.span.kind': 'PROMPT',
        'llm.prompt_template.template': 'Hello {name}',
        'llm.prompt_template.variables': json({ name: 'Ada' }),
      },
      [],
      {
        run_type: 'prompt',
        inputs: { name: 'Ada' },
        metadata: { 'llm.prompt_template.template': 'Hello {name}' },
      },
    ],
    [
      'a session id that is no UUID',
      { 'langsmith.trace.session_id': 'talk-7' },
      [],
      { metadata: { 'langsmith.trace.session_id': 'talk-7' } },
    ],
  ])('is read: %s', (_, attributes, events, expected) => {
    expect(runOf(attributes, events)).toMatchObject(expected);
  });
});

// The smallest graphs, because the server is measured and not the agent.
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { setTimeout as sleep } from 'node:timers/promises';

export const builder = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(String(messages.at(-1)?.content))] }))
  .addEdge(START, 'answer');

export const graph = builder.compile();

/** A state that does not grow. */
export const counter = new StateGraph(Annotation.Root({ count: Annotation<number> }))
  .addNode('add', ({ count }) => ({ count: count + 1 }))
  .addEdge(START, 'add')
  .compile();

const Count = Annotation.Root({ count: Annotation<number> });

/** Emits the current time `count` times, 20 ms apart. */
export const clock = new StateGraph(Count)
  .addNode('tell', async ({ count }, { writer }: LangGraphRunnableConfig) => {
    for (let emitted = 0; emitted < count; emitted++) {
      writer?.(performance.timeOrigin + performance.now());
      await sleep(20);
    }
    return { count };
  })
  .addEdge(START, 'tell')
  .compile();

/** Waits `count` milliseconds. */
export const sleeper = new StateGraph(Count)
  .addNode('sleep', async ({ count }, { signal }: LangGraphRunnableConfig) => {
    await sleep(count, undefined, signal ? { signal } : {});
    return { count };
  })
  .addEdge(START, 'sleep')
  .compile();

const Turns = Annotation.Root({
  count: Annotation<number>,
  ms: Annotation<number>,
  startedAt: Annotation<number | undefined>,
});

/** Waits `count` times for `ms` milliseconds, as an agent waits for its model; each turn is a superstep. `startedAt`: Unix milliseconds. */
export const turns = new StateGraph(Turns)
  .addNode('call', async ({ count, ms, startedAt = Date.now() }) => {
    await sleep(ms);
    return { count: count - 1, startedAt };
  })
  .addEdge(START, 'call')
  .addConditionalEdges('call', ({ count }) => (count > 0 ? 'call' : END), ['call', END])
  .compile();

/** Emits `count` kilobytes of events at once. */
export const flood = new StateGraph(Count)
  .addNode('pour', ({ count }, { writer }: LangGraphRunnableConfig) => {
    for (let poured = 0; poured < count; poured++) writer?.('x'.repeat(1_000));
    return { count };
  })
  .addEdge(START, 'pour')
  .compile();

const Bulk = Annotation.Root({
  objects: Annotation<number>,
  characters: Annotation<number>,
  records: Annotation<object[]>,
  report: Annotation<string>,
});

const prose = (characters: number): string =>
  'A sentence of the report.\n\n'.repeat(characters / 27 + 1).slice(0, characters);

/** Writes a list of `objects` objects of about 900 bytes, and a text. */
export const bulk = new StateGraph(Bulk)
  .addNode('write', ({ objects, characters }) => ({
    records: Array.from({ length: objects }, (_, id) => ({
      id,
      name: `record ${id}`,
      tags: ['first', 'second'],
      score: id / 7,
      text: prose(800),
    })),
    report: prose(characters),
  }))
  .addEdge(START, 'write')
  .compile();

/** Asks a person, and answers what the person says. */
export const askingBuilder = new StateGraph(MessagesAnnotation)
  .addNode('ask', () => ({ messages: [new AIMessage(String(interrupt('Which city?')))] }))
  .addEdge(START, 'ask');

export const asking = askingBuilder.compile();

/** Uses a core for `count` milliseconds, and gives others a turn every 50. */
export const spinner = new StateGraph(Count)
  .addNode('spin', async ({ count }) => {
    for (let end = performance.now() + count; performance.now() < end;) {
      for (const turn = performance.now() + 50; performance.now() < turn;);
      await new Promise(setImmediate);
    }
    return { count };
  })
  .addEdge(START, 'spin')
  .compile();

/** A model that streams 200 tokens without a pause. */
class Chatterbox extends BaseChatModel {
  override _llmType(): string {
    return 'chatterbox';
  }

  override async _generate(): Promise<ChatResult> {
    throw new Error('It only streams');
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (let token = 0; token < 200; token++) {
      const text = `token${token} `;
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

const chatterbox = new Chatterbox({});

export const tokens = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }, config) => ({
    messages: [await chatterbox.invoke(messages, config)],
  }))
  .addEdge(START, 'model')
  .compile();

const ask = tool(({ city }) => `It rains in ${city}.`, {
  name: 'weather',
  description: 'Tells the weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const,
});

const call = { name: 'weather', args: { city: 'Paris' }, id: 'call_1', type: 'tool_call' as const };

/** A model that answers after some milliseconds, first with a tool call and then with a sentence, and reports its token usage. */
class Parrot extends BaseChatModel {
  readonly #thinkMs: number;

  constructor(thinkMs: number) {
    super({});
    this.#thinkMs = thinkMs;
  }

  override _llmType(): string {
    return 'parrot';
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    if (this.#thinkMs > 0) await sleep(this.#thinkMs);
    const hasToolResult = messages.at(-1)?.getType() === 'tool';
    const content = hasToolResult ? 'Take an umbrella: it rains in Paris.' : '';
    const message = new AIMessage({ content, tool_calls: hasToolResult ? [] : [call] });
    Object.assign(message, { usage_metadata: { input_tokens: 120, output_tokens: 12, total_tokens: 132 } });
    return { generations: [{ text: content, message }] };
  }
}

const tools = new ToolNode([ask]);

/** An agent that calls a model, a tool, and the model again. */
const agentWith = (model: BaseChatModel) =>
  new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
    .addNode('tools', tools)
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model');

export const agentBuilder = agentWith(new Parrot(0));
export const agent = agentBuilder.compile();

/** An agent. Its model responds after 200 ms, which is fast for a model. */
export const thinker = agentWith(new Parrot(200)).compile();

// A graph for tests: it streams the words of its input, waits at words that name a gate until the test has opened it, and fails or asks on
// request.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import * as z from 'zod';
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const pauseMs = 20;

class PatientModel extends BaseChatModel {
  constructor() {
    super({});
  }

  _llmType(): string {
    return 'patient';
  }

  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const text = String(messages.at(-1)?.content ?? '');
    return Promise.resolve({ generations: [{ text, message: new AIMessage(text) }] });
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const text of String(messages.at(-1)?.content ?? '').split(/(?<= )/)) {
      do {
        await setTimeout(pauseMs, undefined, { signal: options.signal });
      } while (text.startsWith('gate-') && !existsSync(join(tmpdir(), text.trim())));
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

const model = new PatientModel();

const State = Annotation.Root({ ...MessagesAnnotation.spec, plan: Annotation<string> });

const Context = z.object({
  manner: z.string().optional().describe('How the words are repeated'),
  tone: z.enum(['dry', 'warm']).optional(),
});

export const patient = new StateGraph(State, Context)
  .addNode('prepare', ({ messages }, { context }) => {
    const text = String(messages.at(-1)?.content);
    if (text.startsWith('fail')) throw new TypeError('The plan has no first step.');
    if (text.startsWith('ask')) interrupt('Go on?');
    return { plan: [`Repeat ${messages.length} messages`, context?.manner, context?.tone].join(' ').trim() };
  })
  .addNode('repeat', async ({ messages }) => {
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    return { messages: whole === undefined ? [] : [whole] };
  })
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'repeat')
  .addConditionalEdges('repeat', ({ messages }) => {
    const isTwice = String(messages[0]?.content).startsWith('twice');
    return isTwice && messages.filter((message) => message.type === 'ai').length < 2 ? 'repeat' : END;
  })
  .compile();

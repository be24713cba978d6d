// The smallest graph that answers: the server is measured, not the agent.
import { AIMessage } from '@langchain/core/messages';
import {
  Annotation,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
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

/** Says what time it is, so many times, 20 ms apart. */
export const clock = new StateGraph(Count)
  .addNode('tell', async ({ count }, { writer }: LangGraphRunnableConfig) => {
    for (let told = 0; told < count; told++) {
      writer?.(performance.timeOrigin + performance.now());
      await sleep(20);
    }
    return { count };
  })
  .addEdge(START, 'tell')
  .compile();

/** Does nothing for so many milliseconds. */
export const sleeper = new StateGraph(Count)
  .addNode('sleep', async ({ count }, { signal }: LangGraphRunnableConfig) => {
    await sleep(count, undefined, signal ? { signal } : {});
    return { count };
  })
  .addEdge(START, 'sleep')
  .compile();

/** As many kilobytes of events as it is told, at once. */
export const flood = new StateGraph(Count)
  .addNode('pour', ({ count }, { writer }: LangGraphRunnableConfig) => {
    for (let poured = 0; poured < count; poured++) writer?.('x'.repeat(1_000));
    return { count };
  })
  .addEdge(START, 'pour')
  .compile();

// Sleeps for a time or until its signal is aborted, like a call to a model.
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ ms: Annotation<number>, out: Annotation<string> });

export const sleeper = new StateGraph(State)
  .addNode('sleep', async ({ ms }, { signal }: LangGraphRunnableConfig) => {
    await sleep(ms, undefined, signal ? { signal } : {});
    return { out: 'slept' };
  })
  .addEdge(START, 'sleep')
  .compile();

// Sleeps until its time is over or its signal comes, as a call of a model would.
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

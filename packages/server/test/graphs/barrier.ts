// A run that waits until the test opens its barrier, then adds its id to the log. It stops when its signal is aborted.
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { setTimeout as sleep } from 'node:timers/promises';

const State = Annotation.Root({
  do: Annotation<string>,
  ms: Annotation<number>,
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

const wait = async (_: unknown, { store, signal, configurable }: LangGraphRunnableConfig) => {
  const key = String(configurable?.['run_id']);
  while (!(await store?.get(['barriers'], key))) await sleep(5, undefined, signal ? { signal } : {});
  return { log: [key] };
};

export const barrier = new StateGraph(State).addNode('wait', wait).addEdge(START, 'wait').compile();

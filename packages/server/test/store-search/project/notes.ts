// A graph that uses the store as its input says.
import { Annotation, StateGraph } from '@langchain/langgraph';

interface Wanted {
  put?: { key: string; value: Record<string, unknown>; index?: false | string[] }[];
  search?: { query: string; limit?: number };
}

const State = Annotation.Root({ wanted: Annotation<Wanted>(), found: Annotation<unknown[]>() });

export const notes = new StateGraph(State)
  .addNode('use', async ({ wanted }, { store }) => {
    await Promise.all(
      (wanted.put ?? []).map(async ({ key, value, index }) => store?.put(['graph'], key, value, index)),
    );
    if (!wanted.search) return { found: [] };
    const found = (await store?.search(['graph'], wanted.search)) ?? [];
    return { found: found.map(({ key, score }) => ({ key, score })) };
  })
  .addEdge('__start__', 'use')
  .compile();

// Graphs for tests that read schemas.
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';

const State = Annotation.Root({
  word: Annotation<string>,
  words: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

const Context = Annotation.Root({ language: Annotation<string> });

export const annotated = new StateGraph(State, Context)
  .addNode('keep', ({ word }) => ({ words: [word] }))
  .addEdge(START, 'keep')
  .compile();

const Described = z.object({
  prompt: z.string().register(registry, { jsonSchemaExtra: { langgraph_type: 'prompt' } }),
  count: z.number().default(0),
  tags: z.array(z.string()).optional(),
});

export const described = new StateGraph(Described, { context: z.object({ language: z.string() }) } as never)
  .addNode('add', ({ count }: { count: number }) => ({ count: count + 1 }))
  .addEdge(START, 'add' as never)
  .compile();

/** A graph within a graph. */
export const layered = new StateGraph(Described)
  .addNode('sub', described as never)
  .addEdge(START, 'sub' as never)
  .compile();

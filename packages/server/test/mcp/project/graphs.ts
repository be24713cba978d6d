// Graphs with a schema for their context.
import { type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const State = z.object({ question: z.string(), answer: z.string().default('') });
const Context = z.object({ tenant: z.string(), language: z.string().default('en') });

const answer = ({ question }: z.output<typeof State>, { context }: LangGraphRunnableConfig) => ({
  answer: `${question} ${JSON.stringify(context)}`,
});

export const tenant = new StateGraph(State, Context)
  .addNode('reply', answer)
  .addEdge(START, 'reply')
  .compile();

/** Its input has a member named context. */
const Taken = z.object({ context: z.string(), answer: z.string().default('') });
export const taken = new StateGraph(Taken, Context.partial())
  .addNode('echo', ({ context }) => ({ answer: `given ${context}` }))
  .addEdge(START, 'echo')
  .compile();

interface Tree {
  children?: Tree[] | undefined;
}
const Tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(Tree).optional() }));
export const recursive = new StateGraph(State, z.object({ tree: Tree }))
  .addNode('reply', answer)
  .addEdge(START, 'reply')
  .compile();

// Graphs with subgraphs and calls, whose threads the bare engine reads and runs too.
import {
  Annotation,
  END,
  entrypoint,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';

const log = Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] });
const Log = Annotation.Root({ log });

const asks = (question: string) => () => ({ log: [`answer ${interrupt<string, string>(question)}`] });

const asking = (question: string) =>
  new StateGraph(Log)
    .addNode('work', ({ log: done }) => ({ log: [`work ${done.length}`] }))
    .addNode('ask', asks(question))
    .addEdge(START, 'work')
    .addEdge('work', 'ask')
    .addEdge('ask', END);

const below = <N extends string>(name: N, subgraph: ReturnType<ReturnType<typeof asking>['compile']>) =>
  new StateGraph(Log).addNode(name, subgraph).addEdge(START, name).addEdge(name, END).compile();

/** A subgraph with a memory of its own. */
export const memory = below('helper', asking('May I?').compile({ checkpointer: true }));

/** The same below a subgraph without memory. */
export const deepMemory = below('outer', memory as never);

/** Subgraphs in subgraphs, without memory. */
export const nested = below('middle', below('inner', asking('Sure?').compile()) as never);

const review = task('review', async (topic: string) => interrupt<object, string>({ review: topic }));

/** The functional API: the question belongs to the call, and to the task that made it. */
export const workflow = entrypoint({ name: 'workflow' }, async ({ topic }: { topic: string }) => ({
  verdict: await review(topic),
}));

/** The same call in a node. */
export const calls = new StateGraph(Log)
  .addNode('node', async () => ({ log: [await review('node')] }))
  .addEdge(START, 'node')
  .addEdge('node', END)
  .compile();

const paused = new StateGraph(Log)
  .addNode('one', () => ({ log: ['one'] }))
  .addNode('two', () => ({ log: ['two'] }))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', END)
  .compile({ interruptBefore: ['two'] });

/** Stops before a subgraph, and in it. */
export const breakpoint = new StateGraph(Log)
  .addNode('start', () => ({ log: ['start'] }))
  .addNode('paused', paused)
  .addEdge(START, 'start')
  .addEdge('start', 'paused')
  .addEdge('paused', END)
  .compile({ interruptAfter: ['start'] });

export const question = new StateGraph(Log)
  .addNode('ask', asks('Ok?'))
  .addNode('after', () => ({ log: ['after'] }))
  .addEdge(START, 'ask')
  .addEdge('ask', 'after')
  .addEdge('after', END)
  .compile();

const fails = (): never => {
  throw new Error('It failed');
};

/** A subgraph that fails in its second node. */
export const failing = below(
  'helper',
  new StateGraph(Log)
    .addNode('work', () => ({ log: ['work'] }))
    .addNode('fails', fails)
    .addEdge(START, 'work')
    .addEdge('work', 'fails')
    .compile() as never,
);

/** A node fails while a subgraph begins. */
export const besideFailure = new StateGraph(Log)
  .addNode('fails', fails)
  .addNode('helper', asking('Sure?').compile())
  .addEdge(START, 'fails')
  .addEdge(START, 'helper')
  .compile();

/**
 * A deployment changes the graph: `configurable.changed` says where. `root` and `subgraph` rename the node that asks; with `edges` no edge leads
 * to it any more.
 */
export const changing = (config?: LangGraphRunnableConfig) => {
  const { changed } = (config?.configurable ?? {}) as { changed?: string };
  const outer = changed === 'root' ? 'renamed' : 'ask';
  const inner = changed === 'subgraph' ? 'renamed' : 'ask';
  const helper = new StateGraph(Log)
    .addNode(inner, asks('Inner?'))
    .addEdge(START, inner as never)
    .addEdge(inner as never, END)
    .compile();
  const graph = new StateGraph(Log)
    .addNode('left', () => ({ log: ['left'] }))
    .addNode('right', () => ({ log: ['right'] }))
    .addNode(outer, asks('Outer?'))
    .addNode('helper', helper)
    .addNode('beside', asks('Beside?'))
    .addNode('caller', async () => ({ log: (await helper.invoke({ log: ['called'] })).log }))
    .addConditionalEdges(START, ({ log: [first] }) => {
      if (first === 'called') return ['caller'];
      return first === 'inner' ? ['helper', 'beside'] : ['left', 'right'];
    })
    .addEdge('caller' as never, END)
    .addEdge('helper' as never, END)
    .addEdge('beside' as never, END);
  if (changed !== 'edges') graph.addEdge(['left', 'right'] as never, outer as never);
  return graph.compile();
};

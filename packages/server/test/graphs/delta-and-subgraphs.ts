// Graphs whose state spans several checkpoints: delta channels, and interrupted subgraphs.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  Annotation,
  DeltaChannel,
  entrypoint,
  interrupt,
  messagesDeltaReducer,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';

const Delta = Annotation.Root({
  messages: new DeltaChannel(messagesDeltaReducer as never, { snapshotFrequency: 4 }) as never as ReturnType<
    typeof Annotation<BaseMessage[]>
  >,
  seen: Annotation<string>,
  // Written but never stored in snapshots: it must not be read as a delta.
  note: Annotation<string>,
});

/** Stores its messages as deltas with a snapshot every fourth time; returns the messages that it sees. */
export const delta = new StateGraph(Delta)
  .addNode('answer', (state) => {
    const texts = state.messages.map((message) => String(message.content));
    return { messages: [new AIMessage({ id: `a${texts.length}`, content: 'yes' })], seen: texts.join(' ') };
  })
  .addEdge(START, 'answer')
  .compile();

const letters = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** Parallel nodes that each add their name to a delta channel. An input of `note: 'look'` only returns the names. */
export const parallelDelta = (() => {
  const graph = new StateGraph(Delta).addNode('look', ({ messages }) => ({
    seen: messages.map(({ content }) => String(content)).join(''),
  }));
  for (const letter of letters)
    graph.addNode(letter as never, () => ({ messages: [new AIMessage({ id: letter, content: letter })] }));
  return graph
    .addConditionalEdges(START, ({ note }) => (note === 'look' ? ['look'] : ([...letters] as never[])))
    .compile();
})();

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

const counter = (checkpointer: true | undefined) =>
  new StateGraph(Log)
    .addNode('count', ({ log }) => ({ log: [`${log.length}`] }))
    .addNode('ask', () => ({ log: [interrupt<string, string>('go on?')] }))
    .addEdge(START, 'count')
    .addEdge('count', 'ask')
    .compile(checkpointer ? { checkpointer } : {});

/** A node whose subgraph keeps its state between runs. */
export const stateful = new StateGraph(Log).addNode('inner', counter(true)).addEdge(START, 'inner').compile();

const plain = counter(undefined);
const worker = task('worker', async (log: string[], config?: RunnableConfig) =>
  plain.invoke({ log }, config as never),
);

/** An entrypoint whose task is a graph with an interrupt. */
export const functional = entrypoint('functional', async (input: { log: string[] }) => worker(input.log));

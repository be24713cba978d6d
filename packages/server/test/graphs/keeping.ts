// Graphs whose state is more than their newest checkpoint: changes since an earlier one, and subgraphs that have stopped.
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
  // Never stored, but written: not to be taken for changes of something.
  note: Annotation<string>,
});

/** Keeps its messages as changes, stored whole every fourth time; says what it remembers. */
export const delta = new StateGraph(Delta)
  .addNode('answer', (state) => {
    const texts = state.messages.map((message) => String(message.content));
    return { messages: [new AIMessage({ id: `a${texts.length}`, content: 'yes' })], seen: texts.join(' ') };
  })
  .addEdge(START, 'answer')
  .compile();

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

/** A node whose graph remembers what it did in earlier runs. */
export const stateful = new StateGraph(Log).addNode('inner', counter(true)).addEdge(START, 'inner').compile();

const plain = counter(undefined);
const worker = task('worker', async (log: string[], config?: RunnableConfig) =>
  plain.invoke({ log }, config as never),
);

/** A function whose task is a graph that stops to ask. */
export const functional = entrypoint('functional', async (input: { log: string[] }) => worker(input.log));

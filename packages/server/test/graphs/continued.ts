// Graphs whose threads one version of the engine begins and another one continues.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import {
  Annotation,
  DeltaChannel,
  interrupt,
  messagesDeltaReducer,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';

/** Answers with the number of messages that it sees. */
export const counted = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(`${messages.length}`)] }))
  .addEdge(START, 'answer')
  .compile();

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

/** A node with two interrupts. */
const asking = new StateGraph(Log)
  .addNode('begin', () => ({ log: ['begun'] }))
  .addNode('ask', () => {
    const first = interrupt<string, string>('first?');
    const second = interrupt<string, string>('second?');
    return { log: [`${first} ${second}`] };
  })
  .addEdge(START, 'begin')
  .addEdge('begin', 'ask');
export const twice = asking.compile();

/** The same graph as a subgraph. */
export const inside = new StateGraph(Log)
  .addNode('inner', asking.compile())
  .addEdge(START, 'inner')
  .compile();

/** Two tasks of one node that are interrupted at the same time. */
export const parallel = new StateGraph(Log)
  .addNode('fan', () => ({}))
  .addNode('ask', ({ log: [name = ''] }) => ({ log: [`${name}: ${interrupt<string, string>(name)}`] }))
  .addEdge(START, 'fan')
  .addConditionalEdges('fan', () => ['left', 'right'].map((name) => new Send('ask', { log: [name] })), [
    'ask',
  ])
  .compile();

const Delta = Annotation.Root({
  messages: new DeltaChannel(messagesDeltaReducer as never) as never as ReturnType<
    typeof Annotation<BaseMessage[]>
  >,
  seen: Annotation<string[]>,
});

/** Stores messages as deltas, and returns the texts that it sees. */
export const delta = new StateGraph(Delta)
  .addNode('answer', ({ messages }) => ({
    messages: [new AIMessage(`after ${messages.length}`)],
    seen: messages.map(({ content }) => String(content)),
  }))
  .addEdge(START, 'answer')
  .compile();

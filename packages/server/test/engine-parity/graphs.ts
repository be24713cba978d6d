// Graphs whose threads are read, replayed and answered by the bare engine too.
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const log = Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] });
const Log = Annotation.Root({ log });

const asks = (question: string) => () => ({ log: [`answer ${interrupt<string, string>(question)}`] });

/** A subgraph with a memory of its own, which asks. */
const helper = new StateGraph(Log)
  .addNode('work', ({ log: done }) => ({ log: [`work ${done.length}`] }))
  .addNode('ask', asks('May I?'))
  .addEdge(START, 'work')
  .addEdge('work', 'ask')
  .addEdge('ask', END)
  .compile({ checkpointer: true });

export const memory = new StateGraph(Log)
  .addNode('helper', helper)
  .addEdge(START, 'helper')
  .addEdge('helper', END)
  .compile();

const inner = new StateGraph(Log)
  .addNode('ask', asks('Sure?'))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();
const middle = new StateGraph(Log)
  .addNode('inner', inner)
  .addEdge(START, 'inner')
  .addEdge('inner', END)
  .compile();

/** Subgraphs in subgraphs, without memory. */
export const nested = new StateGraph(Log)
  .addNode('middle', middle)
  .addEdge(START, 'middle')
  .addEdge('middle', END)
  .compile();

export const question = new StateGraph(Log)
  .addNode('ask', asks('Ok?'))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** Two questions in one superstep. */
export const questions = new StateGraph(Log)
  .addNode('first', asks('First?'))
  .addNode('second', asks('Second?'))
  .addEdge(START, 'first')
  .addEdge(START, 'second')
  .compile();

const Tools = Annotation.Root({ log, tools: Annotation<{ name: string; call?: () => number }[]> });

/** Keeps a function in its state. */
export const functions = new StateGraph(Tools)
  .addNode('make', () => ({ log: ['made'], tools: [{ name: 'search', call: () => 1 }] }))
  .addNode('use', ({ tools }) => ({ log: [`used ${tools[0]?.name}`] }))
  .addEdge(START, 'make')
  .addEdge('make', 'use')
  .addEdge('use', END)
  .compile();

/** Sets a key to undefined. */
export const optional = new StateGraph(Annotation.Root({ log, later: Annotation<string | undefined> }))
  .addNode('set', () => ({ log: ['set'], later: undefined }))
  .addEdge(START, 'set')
  .addEdge('set', END)
  .compile();

// The smallest graph that answers: the server is measured, not the agent.
import { AIMessage } from '@langchain/core/messages';
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

export const builder = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(String(messages.at(-1)?.content))] }))
  .addEdge(START, 'answer');

export const graph = builder.compile();

/** A state that does not grow. */
export const counter = new StateGraph(Annotation.Root({ count: Annotation<number> }))
  .addNode('add', ({ count }) => ({ count: count + 1 }))
  .addEdge(START, 'add')
  .compile();

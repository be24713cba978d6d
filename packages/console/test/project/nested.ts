// A graph for tests, one of whose nodes is a graph itself.
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const inner = new StateGraph(MessagesAnnotation)
  .addNode('listen', () => ({}))
  .addNode('repeat', ({ messages }) => ({ messages: messages.slice(-1) }))
  .addEdge(START, 'listen')
  .addEdge('listen', 'repeat')
  .addEdge('repeat', END)
  .compile();

export const nested = new StateGraph(MessagesAnnotation)
  .addNode('parrot', inner)
  .addEdge(START, 'parrot')
  .addEdge('parrot', END)
  .compile();

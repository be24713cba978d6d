// The same graph as `echo_graph` in JavaScript.
import { AIMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const echo = ({ messages }: typeof MessagesAnnotation.State) => ({
  messages: [new AIMessage(`echo: ${String(messages.at(-1)?.content)}`)],
});

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('echo', echo)
  .addEdge(START, 'echo')
  .compile();

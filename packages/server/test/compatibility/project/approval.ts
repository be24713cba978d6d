import { interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import { Log } from './log.ts';

/** Three steps with an interrupt in the second. */
export const approval = new StateGraph(Log)
  .addNode('write', () => ({ log: ['written'] }))
  .addNode('review', () => {
    const answer = interrupt<unknown, string>({ question: 'send?' });
    return { log: [`answered ${answer}`] };
  })
  .addNode('send', () => ({ log: ['sent'] }))
  .addEdge(START, 'write')
  .addEdge('write', 'review')
  .addEdge('review', 'send')
  .compile();

/** Two interrupts at the same time. */
export const questions = new StateGraph(Log)
  .addNode('ask', ({ log: [name = ''] }) => ({ log: [`${name}: ${interrupt<string, string>(name)}`] }))
  .addConditionalEdges(START, () => ['left', 'right'].map((name) => new Send('ask', { log: [name] })), [
    'ask',
  ])
  .compile();

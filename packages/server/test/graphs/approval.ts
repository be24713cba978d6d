import { once } from 'node:events';
import { Annotation, interrupt, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

/** Two steps with an interrupt between them. The answer "hold" keeps the second step executing until the run is cancelled. */
export const approval = new StateGraph(State)
  .addNode('write', () => ({ log: ['written'] }))
  .addNode('review', async (_, { signal }: LangGraphRunnableConfig) => {
    const answer = interrupt<unknown, string>({ question: 'send?' });
    if (answer === 'hold' && signal) await once(signal, 'abort');
    return { log: [`answered ${answer}`] };
  })
  .addNode('send', () => ({ log: ['sent'] }))
  .addEdge(START, 'write')
  .addEdge('write', 'review')
  .addEdge('review', 'send')
  .compile();

/** Two interrupts at the same time. */
export const questions = new StateGraph(State)
  .addNode('first', () => ({ log: [`first ${interrupt<string, string>('first?')}`] }))
  .addNode('second', () => ({ log: [`second ${interrupt<string, string>('second?')}`] }))
  .addNode('last', () => ({ log: ['last'] }))
  .addEdge(START, 'first')
  .addEdge(START, 'second')
  .addEdge(['first', 'second'], 'last')
  .compile();

// Fails without a handler: in a promise that is not awaited, or in a timer.
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ where: Annotation<'promise' | 'timer'>, out: Annotation<string> });

export const rejecter = new StateGraph(State)
  .addNode('reject', async ({ where }) => {
    if (where === 'promise') void Promise.reject(new Error('not awaited'));
    else
      setTimeout(() => {
        throw new Error('not caught');
      }, 0);
    await sleep(50);
    return { out: 'survived' };
  })
  .addEdge(START, 'reject')
  .compile();

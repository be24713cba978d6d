import { once } from 'node:events';
import { Annotation, interrupt, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

/** Asks a question. After the answer "hold" the node executes until its run is cancelled. */
const ask = async (question: unknown, { signal }: LangGraphRunnableConfig): Promise<string> => {
  const answer = interrupt<unknown, string>(question);
  if (answer === 'hold' && signal) await once(signal, 'abort');
  if (answer === 'throw') throw new Error('the answer was not accepted');
  // Until its executor is killed.
  if (answer === 'block') for (const untilMs = performance.now() + 20_000; performance.now() < untilMs;);
  return answer;
};

/** Two steps with an interrupt between them. */
export const approval = new StateGraph(State)
  .addNode('write', () => ({ log: ['written'] }))
  .addNode('review', async (_, config: LangGraphRunnableConfig) => ({
    log: [`answered ${await ask({ question: 'send?' }, config)}`],
  }))
  .addNode('send', () => ({ log: ['sent'] }))
  .addEdge(START, 'write')
  .addEdge('write', 'review')
  .addEdge('review', 'send')
  .compile();

/** Asks the question of its input, which is JSON text. With an empty text it asks nothing. */
export const asking = new StateGraph(
  Annotation.Root({ question: Annotation<string>, out: Annotation<string> }),
)
  .addNode('ask', async ({ question }, config: LangGraphRunnableConfig) => ({
    out: question === '' ? 'not asked' : await ask(JSON.parse(question), config),
  }))
  .addEdge(START, 'ask')
  .compile();

/** Two interrupts at the same time. With the input "hold", the second node executes until its run is cancelled. */
export const questions = new StateGraph(State)
  .addNode('first', async (_, config: LangGraphRunnableConfig) => ({
    log: [`first ${await ask('first?', config)}`],
  }))
  .addNode('second', async ({ log }, config: LangGraphRunnableConfig) => {
    if (log.includes('hold') && config.signal) await once(config.signal, 'abort');
    return { log: [`second ${await ask('second?', config)}`] };
  })
  .addNode('last', () => ({ log: ['last'] }))
  .addEdge(START, 'first')
  .addEdge(START, 'second')
  .addEdge(['first', 'second'], 'last')
  .compile();

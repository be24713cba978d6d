// A graph whose nodes ask as many questions as its input specifies: one node alone, then two nodes and a subgraph in parallel, then one
// node alone. The node named by `hold` waits at a barrier after its last answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, interrupt, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

type Node = 'open' | 'left' | 'right' | 'ask' | 'again' | 'close';

/** Number of questions of each node. */
export type Plan = Partial<Record<Node, number>> & { hold?: Node };

const State = Annotation.Root({
  plan: Annotation<Plan>,
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

/** Writes `waiting/<run>` and waits for `barriers/<run>`, whose value names the attempt in which the process exits there. */
export const passBarrier = async ({
  store,
  signal,
  configurable,
  metadata,
}: LangGraphRunnableConfig): Promise<void> => {
  const key = String(configurable?.['run_id']);
  await store?.put(['waiting'], key, {});
  for (;;) {
    const barrier = await store?.get(['barriers'], key);
    if (barrier && barrier.value['exit'] === (metadata?.['run_attempt'] ?? 0)) process.exit(1);
    if (barrier) return;
    await sleep(5, undefined, signal ? { signal } : {});
  }
};

const askingNode =
  (node: Node) =>
  async ({ plan }: typeof State.State, config: LangGraphRunnableConfig) => {
    const answers = Array.from({ length: plan[node] ?? 0 }, (_, at) =>
      interrupt<string, string>(`${node} ${at}?`),
    );
    if (plan.hold === node) await passBarrier(config);
    return { log: [[node, ...answers].join(' ')] };
  };

const inner = new StateGraph(State)
  .addNode('ask', askingNode('ask'))
  .addNode('again', askingNode('again'))
  .addEdge(START, 'ask')
  .addEdge('ask', 'again')
  .compile();

export const survey = new StateGraph(State)
  .addNode('open', askingNode('open'))
  .addNode('left', askingNode('left'))
  .addNode('right', askingNode('right'))
  .addNode('inner', async ({ plan }, config) => ({ log: (await inner.invoke({ plan }, config)).log }))
  .addNode('close', askingNode('close'))
  .addEdge(START, 'open')
  .addEdge('open', 'left')
  .addEdge('open', 'right')
  .addEdge('open', 'inner')
  .addEdge(['left', 'right', 'inner'], 'close')
  .compile();

// A graph whose nodes ask as many questions as its input says: one node alone, then two nodes and a subgraph in parallel,
// then one node alone. The node that the input names in `hold` waits at a gate after its last answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, interrupt, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

type Node = 'open' | 'left' | 'right' | 'ask' | 'again' | 'close';

/** Questions of each node. */
export type Plan = Partial<Record<Node, number>> & { hold?: Node };

const State = Annotation.Root({
  plan: Annotation<Plan>,
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

/** Writes `waiting/<run>` and waits for `gates/<run>`, whose value says in which attempt the process exits there. */
const passGate = async ({
  store,
  signal,
  configurable,
  metadata,
}: LangGraphRunnableConfig): Promise<void> => {
  const key = String(configurable?.['run_id']);
  await store?.put(['waiting'], key, {});
  for (;;) {
    const gate = await store?.get(['gates'], key);
    if (gate && gate.value['exit'] === (metadata?.['run_attempt'] ?? 0)) process.exit(1);
    if (gate) return;
    await sleep(5, undefined, signal ? { signal } : {});
  }
};

const asking =
  (node: Node) =>
  async ({ plan }: typeof State.State, config: LangGraphRunnableConfig) => {
    const answers = Array.from({ length: plan[node] ?? 0 }, (_, at) =>
      interrupt<string, string>(`${node} ${at}?`),
    );
    if (plan.hold === node) await passGate(config);
    return { log: [[node, ...answers].join(' ')] };
  };

const inner = new StateGraph(State)
  .addNode('ask', asking('ask'))
  .addNode('again', asking('again'))
  .addEdge(START, 'ask')
  .addEdge('ask', 'again')
  .compile();

export const survey = new StateGraph(State)
  .addNode('open', asking('open'))
  .addNode('left', asking('left'))
  .addNode('right', asking('right'))
  .addNode('inner', async ({ plan }, config) => ({ log: (await inner.invoke({ plan }, config)).log }))
  .addNode('close', asking('close'))
  .addEdge(START, 'open')
  .addEdge('open', 'left')
  .addEdge('open', 'right')
  .addEdge('open', 'inner')
  .addEdge(['left', 'right', 'inner'], 'close')
  .compile();

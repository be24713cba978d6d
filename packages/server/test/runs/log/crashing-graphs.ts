// Graphs that end their executor once, at a moment that the test chooses: `go` names a file to wait for. Without it they end it in each
// attempt with the number 1, which an attempt after a stored step has again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AIMessageChunk, HumanMessage } from '@langchain/core/messages';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';

const State = Annotation.Root({
  /** Number of custom events before the executor ends, of a thousand bytes each. */
  events: Annotation<number>,
  go: Annotation<string | undefined>,
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

type Step = (state: typeof State.State, config: LangGraphRunnableConfig) => Promise<{ log: string[] }>;

const step =
  (name: string): Step =>
  () =>
    Promise.resolve({ log: [name] });

const emitEvents: Step = ({ events }, { writer }) => {
  for (let at = 0; at < events; at++) writer?.({ at, text: 'x'.repeat(1_000) });
  return Promise.resolve({ log: ['emitEvents'] });
};

const ended = 'ended';

const endExecutor = async (
  { go }: { go: string | undefined },
  { metadata }: LangGraphRunnableConfig,
): Promise<void> => {
  if (go === undefined) {
    if (metadata?.['run_attempt'] !== 1) return;
  } else {
    while (!existsSync(go)) await sleep(2);
    if (readFileSync(go, 'utf8') === ended) return;
    writeFileSync(go, ended);
  }
  process.exit(1);
};

const endOnce: Step = async (state, config) => {
  await endExecutor(state, config);
  return { log: ['endOnce'] };
};

export const speaker = new StateGraph(State)
  .addNode('emitEvents', emitEvents)
  .addNode('endOnce', endOnce)
  .addNode('last', step('last'))
  .addEdge(START, 'emitEvents')
  .addEdge('emitEvents', 'endOnce')
  .addEdge('endOnce', 'last')
  .addEdge('last', END)
  .compile();

export const branches = new StateGraph(State)
  .addNode('first', step('first'))
  .addNode('quick', emitEvents)
  .addNode('slow', endOnce)
  .addNode('last', step('last'))
  .addEdge(START, 'first')
  .addEdge('first', 'quick')
  .addEdge('first', 'slow')
  .addEdge('quick', 'last')
  .addEdge('slow', 'last')
  .addEdge('last', END)
  .compile();

const inner = new StateGraph(State)
  .addNode('emitEvents', emitEvents)
  .addNode('endOnce', endOnce)
  .addEdge(START, 'emitEvents')
  .addEdge('emitEvents', 'endOnce')
  .compile();

export const outer = new StateGraph(State)
  .addNode('first', step('first'))
  .addNode('inner', inner)
  .addNode('last', step('last'))
  .addEdge(START, 'first')
  .addEdge('first', 'inner')
  .addEdge('inner', 'last')
  .compile();

const ask =
  (name: string, then: Step = step(name)): Step =>
  async (state, config) => {
    const answer = interrupt<string, string>(`${name}?`);
    await then(state, config);
    return { log: [`${name} ${answer}`] };
  };

/** Three questions at the same time, beside a node that asks none. The executor ends in the second one, after its answer. */
export const survey = new StateGraph(State)
  .addNode('quick', step('quick'))
  .addNode('first', ask('first'))
  .addNode('second', ask('second', endOnce))
  .addNode('third', ask('third'))
  .addEdge(START, 'quick')
  .addEdge(START, 'first')
  .addEdge(START, 'second')
  .addEdge(START, 'third')
  .compile();

const Talk = Annotation.Root({ ...MessagesAnnotation.spec, go: Annotation<string | undefined> });

const words = 'a few words that come one after the other'.split(' ');
const model = new FakeStreamingChatModel({
  sleep: 1,
  chunks: words.map((word) => new AIMessageChunk(word)),
});

export const talker = new StateGraph(Talk)
  .addNode('talk', async () => ({ messages: [await model.invoke([new HumanMessage('talk')])] }))
  .addNode('endOnce', async (state, config: LangGraphRunnableConfig) => {
    await endExecutor(state, config);
    return {};
  })
  .addEdge(START, 'talk')
  .addEdge('talk', 'endOnce')
  .compile();

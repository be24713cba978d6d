// Graphs that end their executor in the first attempt, at a moment that a test chooses: `go` names a file to wait for.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AIMessageChunk, HumanMessage } from '@langchain/core/messages';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import {
  Annotation,
  END,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';

const State = Annotation.Root({
  /** Custom events before the executor ends, of a thousand bytes each. */
  events: Annotation<number>,
  go: Annotation<string | undefined>,
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

type Step = (state: typeof State.State, config: LangGraphRunnableConfig) => Promise<{ log: string[] }>;

const step =
  (name: string): Step =>
  () =>
    Promise.resolve({ log: [name] });

const speak: Step = ({ events }, { writer }) => {
  for (let at = 0; at < events; at++) writer?.({ at, text: 'x'.repeat(1_000) });
  return Promise.resolve({ log: ['speak'] });
};

const fall = async (
  { go }: { go: string | undefined },
  { metadata }: LangGraphRunnableConfig,
): Promise<void> => {
  if (metadata?.['run_attempt'] !== 1) return;
  while (go !== undefined && !existsSync(go)) await sleep(2);
  process.exit(1);
};

const stumble: Step = async (state, config) => {
  await fall(state, config);
  return { log: ['stumble'] };
};

export const speaker = new StateGraph(State)
  .addNode('speak', speak)
  .addNode('stumble', stumble)
  .addNode('last', step('last'))
  .addEdge(START, 'speak')
  .addEdge('speak', 'stumble')
  .addEdge('stumble', 'last')
  .addEdge('last', END)
  .compile();

export const branches = new StateGraph(State)
  .addNode('first', step('first'))
  .addNode('quick', speak)
  .addNode('slow', stumble)
  .addNode('last', step('last'))
  .addEdge(START, 'first')
  .addEdge('first', 'quick')
  .addEdge('first', 'slow')
  .addEdge('quick', 'last')
  .addEdge('slow', 'last')
  .addEdge('last', END)
  .compile();

const inner = new StateGraph(State)
  .addNode('speak', speak)
  .addNode('stumble', stumble)
  .addEdge(START, 'speak')
  .addEdge('speak', 'stumble')
  .compile();

export const outer = new StateGraph(State)
  .addNode('first', step('first'))
  .addNode('inner', inner)
  .addNode('last', step('last'))
  .addEdge(START, 'first')
  .addEdge('first', 'inner')
  .addEdge('inner', 'last')
  .compile();

const Talk = Annotation.Root({ ...MessagesAnnotation.spec, go: Annotation<string | undefined> });

const words = 'a few words that come one after the other'.split(' ');
const model = new FakeStreamingChatModel({
  sleep: 1,
  chunks: words.map((word) => new AIMessageChunk(word)),
});

export const talker = new StateGraph(Talk)
  .addNode('talk', async () => ({ messages: [await model.invoke([new HumanMessage('talk')])] }))
  .addNode('stumble', async (state, config: LangGraphRunnableConfig) => {
    await fall(state, config);
    return {};
  })
  .addEdge(START, 'talk')
  .addEdge('talk', 'stumble')
  .compile();

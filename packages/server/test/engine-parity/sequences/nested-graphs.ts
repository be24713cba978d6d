// Graphs with subgraphs, and the functional API.
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  Annotation,
  Command,
  END,
  entrypoint,
  getPreviousState,
  interrupt,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { mayBeKilled } from './kill-switch.ts';
import { asks, logChannel, says, State, step } from './state.ts';

const pair = new StateGraph(State)
  .addNode('one', says('one'))
  .addNode('two', says('two'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', END)
  .compile();

/** Logs of a subgraph contain those of its parent, so a parent takes the new ones only. */
const Outer = Annotation.Root({
  ...State.spec,
  log: Annotation<string[]>({ reducer: (_, log) => log, default: () => [] }),
});

export const subgraph = new StateGraph(Outer)
  .addNode(
    'before',
    step(({ log }: typeof Outer.State) => ({ log: [...log, 'before'] })),
  )
  .addNode('inner', pair)
  .addNode(
    'after',
    step(({ log }: typeof Outer.State) => ({ log: [...log, 'after'] })),
  )
  .addEdge(START, 'before')
  .addEdge('before', 'inner')
  .addEdge('inner', 'after')
  .addEdge('after', END)
  .compile();

const asking = (checkpointer?: true) =>
  new StateGraph(State)
    .addNode('work', says('work'))
    .addNode('ask', asks('Sure?'))
    .addNode('done', says('done'))
    .addEdge(START, 'work')
    .addEdge('work', 'ask')
    .addEdge('ask', 'done')
    .addEdge('done', END)
    .compile(checkpointer ? { checkpointer } : {});

const middle = new StateGraph(Outer)
  .addNode('inner', asking())
  .addNode(
    'close',
    step(({ log }: typeof Outer.State) => ({ log: [...log, 'close'] })),
  )
  .addEdge(START, 'inner')
  .addEdge('inner', 'close')
  .addEdge('close', END)
  .compile();

export const nested = new StateGraph(Outer)
  .addNode('middle', middle)
  .addNode(
    'end',
    step(({ log }: typeof Outer.State) => ({ log: [...log, 'end'] })),
  )
  .addEdge(START, 'middle')
  .addEdge('middle', 'end')
  .addEdge('end', END)
  .compile();

/** A subgraph that keeps its state from run to run. */
export const memory = new StateGraph(Outer)
  .addNode('helper', asking(true))
  .addNode(
    'end',
    step(({ log }: typeof Outer.State) => ({ log: [...log, 'end'] })),
  )
  .addEdge(START, 'helper')
  .addEdge('helper', 'end')
  .addEdge('end', END)
  .compile();

const Both = Annotation.Root({ ...State.spec, log: logChannel() });

/** Both write to one state at the same time, where a channel without a reducer takes one value only. */
const Answers = Annotation.Root({ log: State.spec.log });

const asksAs = (name: string) =>
  new StateGraph(State, { output: Answers })
    .addNode('ask', asks(`${name}?`))
    .addNode('done', says(name))
    .addEdge(START, 'ask')
    .addEdge('ask', 'done')
    .addEdge('done', END)
    .compile();

export const parallelSubgraphs = new StateGraph(Both)
  .addNode('left', asksAs('left'))
  .addNode('right', asksAs('right'))
  .addNode('join', says('join'))
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .addEdge(['left', 'right'], 'join')
  .addEdge('join', END)
  .compile();

const leaving = new StateGraph(State)
  .addNode('one', says('one'))
  .addNode(
    'leave',
    step(
      ({ topic }: typeof State.State) =>
        new Command({
          graph: Command.PARENT,
          goto: topic === 'plain' ? 'near' : 'far',
          update: { log: ['left'] },
        }),
    ),
  )
  .addEdge(START, 'one')
  .addEdge('one', 'leave')
  .compile();

export const parentCommand = new StateGraph(State)
  .addNode('inner', leaving, { ends: ['near', 'far'] })
  .addNode('near', says('near'))
  .addNode('far', asks('Far?'))
  .addEdge(START, 'inner')
  .addEdge('near', END)
  .addEdge('far', 'near')
  .compile();

const word = task('word', (text: string, config?: RunnableConfig): string => {
  if (config) mayBeKilled(config);
  return `<${text}>`;
});

const review = task(
  'review',
  (text: string): string => `${text}: ${JSON.stringify(interrupt({ review: text }))}`,
);

const sentence = task('sentence', async (topic: string): Promise<string> => {
  const words = await Promise.all([word(topic), word('and')]);
  return words.join(' ');
});

interface Essay {
  topic?: string;
}

export const functional = entrypoint({ name: 'functional' }, async ({ topic = 'nothing' }: Essay) => {
  const previous = getPreviousState<string[]>() ?? [];
  const written = await sentence(topic);
  const reviewed = topic === 'plain' ? written : await review(written);
  const value = [...previous, reviewed];
  return entrypoint.final({ value: { written: reviewed, before: previous.length }, save: value });
});

// Graphs whose states are more than the values of one checkpoint: delta channels, supersteps that wait, fan-outs.
import {
  Annotation,
  DeltaChannel,
  END,
  entrypoint,
  interrupt,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';

const list = () => Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] });

/** A list that checkpoints have as changes, with a snapshot every third time. */
const changes = () =>
  new DeltaChannel((all: string[], writes: string[][]) => all.concat(...writes), {
    snapshotFrequency: 3,
  }) as never as ReturnType<typeof list>;

const Noted = Annotation.Root({ notes: changes(), topic: Annotation<string>, log: list() });

const asks = (question: string) => () => ({ log: [`answer ${interrupt<string, string>(question)}`] });

/** Notes what it has read; asks when the last note begins with `ask`. */
export const noted = new StateGraph(Noted)
  .addNode('read', ({ notes }) => ({ notes: [`read ${notes.length}`] }))
  .addNode('ask', ({ notes }) =>
    notes.at(-2)?.startsWith('ask') ? { notes: [`said ${interrupt<string, string>('Ok?')}`] } : {},
  )
  .addEdge(START, 'read')
  .addEdge('read', 'ask')
  .addEdge('ask', END)
  .compile();

/** A node that finishes beside a node that asks. */
export const two = new StateGraph(Noted)
  .addNode('fast', () => ({ log: ['fast is done'], notes: ['fast'] }))
  .addNode('ask', asks('Ok?'))
  .addEdge(START, 'fast')
  .addEdge(START, 'ask')
  .addEdge('fast', END)
  .addEdge('ask', END)
  .compile();

/** A node that finishes beside a node that fails. */
export const half = new StateGraph(Noted)
  .addNode('fast', () => ({ log: ['fast is done'], notes: ['fast'] }))
  .addNode('fail', () => {
    throw new Error('It failed');
  })
  .addEdge(START, 'fast')
  .addEdge(START, 'fail')
  .compile();

/** Two nodes that write to a channel for one value. */
export const conflict = new StateGraph(Noted)
  .addNode('one', () => ({ topic: 'one' }))
  .addNode('other', () => ({ topic: 'other' }))
  .addEdge(START, 'one')
  .addEdge(START, 'other')
  .compile();

/** Two questions in one node. */
export const pair = new StateGraph(Noted)
  .addNode('ask', () => ({
    log: [interrupt<string, string>('First?'), interrupt<string, string>('Second?')],
  }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** A subgraph that waits, with a node that has finished. */
export const outer = new StateGraph(Noted)
  .addNode('begin', () => ({ notes: ['begun'] }))
  .addNode('two', two)
  .addEdge(START, 'begin')
  .addEdge('begin', 'two')
  .addEdge('two', END)
  .compile();

/** A fan-out, then a node that needs no time. */
export const fanout = new StateGraph(
  Annotation.Root({
    results: Annotation<number[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    i: Annotation<number>,
    sum: Annotation<number>,
  }),
)
  .addNode('plan', () => ({}))
  .addNode('each', ({ i }) => ({ results: [i] }))
  .addNode('reduce', ({ results }) => ({ sum: results.length }))
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', () => Array.from({ length: 50 }, (_, i) => new Send('each', { i })), ['each'])
  .addEdge('each', 'reduce')
  .addEdge('reduce', END)
  .compile();

/** The functional API: the state is the value of one channel. */
export const functional = entrypoint({ name: 'functional' }, async (input: string) =>
  input === 'ask' ? `said ${interrupt<string, string>('Ok?')}` : `done ${input}`,
);

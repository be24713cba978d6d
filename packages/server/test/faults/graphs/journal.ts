// Takes as many steps as its input says. Each leaves a marker in the state, which is what was committed, and a line
// in a file, which is what was executed: the two tell what ran more often than it counted.
import { appendFile } from 'node:fs/promises';
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  /** Names the run; whoever asked for it chose it. */
  marker: Annotation<string>,
  steps: Annotation<number>,
  /** Milliseconds that a step takes. */
  ms: Annotation<number>,
  /** Path of the file; none when it is absent. */
  file: Annotation<string | undefined>,
  /** Steps that the run has taken; its input sets it to 0. */
  taken: Annotation<number>,
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

const step = async (state: typeof State.State, config: LangGraphRunnableConfig) => {
  const { marker, taken, ms, file } = state;
  const entry = `${marker}:${taken}`;
  // One write with O_APPEND: lines of several processes do not mix.
  if (file) await appendFile(file, `${JSON.stringify({ entry, pid: process.pid, at: Date.now() })}\n`);
  config.writer?.({ step: entry });
  if (ms > 0) {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      config.signal?.addEventListener(
        'abort',
        () => (clearTimeout(timer), reject(config.signal?.reason as Error)),
        { once: true },
      );
    });
  }
  return { taken: taken + 1, log: [entry] };
};

export const journal = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ taken, steps }) => (taken < steps ? 'step' : END))
  .compile();

// Takes as many steps as its input specifies. Each step leaves a marker in the state (what was committed) and a line in a file (what was
// executed): the difference shows steps that were executed more often than committed.
import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  /** Identifies the run; chosen by the client. */
  marker: Annotation<string>,
  steps: Annotation<number>,
  /** Milliseconds that a step takes. */
  ms: Annotation<number>,
  /** Path of the file; none when it is absent. */
  file: Annotation<string | undefined>,
  /** Path of a file that a test creates: no step ends before. None when it is absent. */
  gate: Annotation<string | undefined>,
  /** Steps that the run has taken; its input sets it to 0. */
  taken: Annotation<number>,
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

/** Rejects with the reason of the signal when it is aborted. */
const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  try {
    await sleep(ms, undefined, signal ? { signal } : {});
  } catch {
    throw signal?.reason as Error;
  }
};

const step = async (state: typeof State.State, config: LangGraphRunnableConfig) => {
  const { marker, taken, ms, file, gate } = state;
  const entry = `${marker}:${taken}`;
  // One write with O_APPEND: lines of several processes do not mix.
  if (file) await appendFile(file, `${JSON.stringify({ entry, pid: process.pid, at: Date.now() })}\n`);
  config.writer?.({ step: entry });
  if (ms > 0) await pause(ms, config.signal);
  while (gate && !existsSync(gate)) await pause(20, config.signal);
  return { taken: taken + 1, log: [entry] };
};

export const journal = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ taken, steps }) => (taken < steps ? 'step' : END))
  .compile();

// A graph of steps. Step n kills its executor the first `deaths[n]` times that it is executed; files in `dir` count executions.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  dir: Annotation<string>,
  /** For each step, how often its executor is killed. */
  deaths: Annotation<number[]>,
  at: Annotation<number>({ reducer: (_, at) => at, default: () => 0 }),
});

const executionsOf = (file: string): number => {
  appendFileSync(file, 'x');
  return readFileSync(file, 'utf8').length;
};

const step = ({ dir, deaths, at }: typeof State.State): { at: number } => {
  if (executionsOf(join(dir, String(at))) <= (deaths[at] ?? 0)) process.kill(process.pid, 'SIGKILL');
  return { at: at + 1 };
};

export const crashing = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ deaths, at }) => (at < deaths.length ? 'step' : '__end__'))
  .compile();

// The state and the nodes of the graphs that sequences of operations run on.
import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, interrupt } from '@langchain/langgraph';
import { mayBeKilled } from './kill-switch.ts';

export const logChannel = () =>
  Annotation<string[], string | string[]>({
    reducer: (all, more) => all.concat(more),
    default: () => [],
  });

export const State = Annotation.Root({
  log: logChannel(),
  topic: Annotation<string>,
  count: Annotation<number>({ reducer: (_, count) => count, default: () => 0 }),
});
export type State = typeof State.State;
export type Update = typeof State.Update;

/** A node whose executor may be killed. */
export const step =
  <S, U>(work: (state: S, config: RunnableConfig) => U) =>
  (state: S, config: RunnableConfig): U => {
    mayBeKilled(config);
    return work(state, config);
  };

/** Adds its name and what it sees. */
export const says = (name: string) =>
  step((state: State): Update => ({ log: [`${name}: ${state.topic ?? 'nothing'} ${state.log.length}`] }));

const asText = (answer: unknown): string => JSON.stringify(answer) ?? 'undefined';

/** Adds the answers to its questions. */
export const asks = (...questions: string[]) =>
  step((): Update => ({ log: questions.map((question) => `${question} ${asText(interrupt(question))}`) }));

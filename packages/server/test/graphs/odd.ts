// A graph that generates an arbitrary value from a seed and returns, writes, throws or interrupts with it.
import { Annotation, interrupt, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  how: Annotation<'keep' | 'return' | 'interrupt' | 'write' | 'throw' | 'scream'>,
  seed: Annotation<number>,
  out: Annotation<unknown>,
});

/** Imports here: the tables of fast-check cost 0.6 CPU-seconds, and every executor of the tests loads this file. */
const make = async (seed: number): Promise<unknown> => {
  const [fc, { oddValue }] = await Promise.all([import('fast-check'), import('../codec-values.ts')]);
  return fc.sample(oddValue, { seed, numRuns: 1 })[0];
};

export const odd = new StateGraph(State)
  .addNode('make', async ({ how, seed }, { writer }: LangGraphRunnableConfig) => {
    switch (how) {
      case 'keep':
        return { out: 'before' };
      case 'return':
        return { out: await make(seed) };
      case 'interrupt':
        return { out: interrupt(await make(seed)) };
      case 'write':
        writer?.(await make(seed));
        return {};
      case 'throw':
        throw await make(seed);
      case 'scream':
        throw new TypeError(`begin ${'a'.repeat(seed)} end`, { cause: new Error('b'.repeat(seed)) });
    }
  })
  .addEdge(START, 'make')
  .compile();

// A graph that generates an arbitrary value from a seed and returns, writes, throws or interrupts with it.
import { Annotation, interrupt, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import fc from 'fast-check';
import { oddValue } from '../../src/engine/codec/test-values.ts';

const State = Annotation.Root({
  how: Annotation<'keep' | 'return' | 'interrupt' | 'write' | 'throw' | 'scream'>,
  seed: Annotation<number>,
  out: Annotation<unknown>,
});

const make = (seed: number): unknown => fc.sample(oddValue, { seed, numRuns: 1 })[0];

export const odd = new StateGraph(State)
  .addNode('make', ({ how, seed }, { writer }: LangGraphRunnableConfig) => {
    switch (how) {
      case 'keep':
        return { out: 'before' };
      case 'return':
        return { out: make(seed) };
      case 'interrupt':
        return { out: interrupt(make(seed)) };
      case 'write':
        writer?.(make(seed));
        return {};
      case 'throw':
        throw make(seed);
      case 'scream':
        throw new TypeError(`begin ${'a'.repeat(seed)} end`, { cause: new Error('b'.repeat(seed)) });
    }
  })
  .addEdge(START, 'make')
  .compile();

// Sequences that once had another result on the server. The title says what the server does.
import type { Operation } from './operations.ts';

interface NamedSequence {
  title: string;
  /** A key of the cases. */
  graph: string;
  operations: Operation[];
}

export const namedSequences: readonly NamedSequence[] = [
  {
    title: 'a refused run leaves the value of an entrypoint that waits at a breakpoint',
    graph: 'functional',
    operations: [
      { do: 'run', input: { topic: 'plain' }, durability: 'async' },
      { do: 'run', input: { topic: 'plain' }, durability: 'async', after: ['functional'] },
      { do: 'command', durability: 'async' },
    ],
  },
];

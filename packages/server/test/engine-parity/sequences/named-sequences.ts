// Sequences that once had another result on the server. The title says what the server does.
import type { Client } from '@svc/sdk';
import { it } from 'vitest';
import { cases } from './cases.ts';
import type { Operation } from './operations.ts';
import { play } from './play.ts';

interface NamedSequence {
  title: string;
  /** A key of the cases. */
  graph: string;
  operations: Operation[];
}

const namedSequences: readonly NamedSequence[] = [
  {
    title: 'a refused run leaves the value of an entrypoint that waits at a breakpoint',
    graph: 'functional',
    operations: [
      { do: 'run', input: { topic: 'plain' }, durability: 'async' },
      { do: 'run', input: { topic: 'plain' }, durability: 'async', after: ['functional'] },
      { do: 'command', durability: 'async' },
    ],
  },
  {
    title: 'a node is next when its waiting edge was ready while something else had triggered it',
    graph: 'fanOut',
    operations: [
      { do: 'run', input: { topic: 'plain' }, durability: 'async', before: ['join'] },
      { do: 'command', goto: ['join'], durability: 'async' },
      { do: 'run', input: null, durability: 'async' },
    ],
  },
  {
    title:
      'the attempt after a kill of a run at a checkpoint of a subgraph does not give a subgraph its input again',
    graph: 'subgraph',
    operations: [
      { do: 'run', input: { topic: 'plain' }, durability: 'async' },
      {
        do: 'run',
        input: { topic: 'plain' },
        durability: 'async',
        at: { nth: 2, subgraph: true },
        kill: 3,
      },
    ],
  },
];

const isKilling = ({ operations }: NamedSequence): boolean =>
  operations.some((one) => 'kill' in one && one.kill !== undefined);

/** Tests of the sequences with or without kills of executors. `client` is called when the server has started. */
export const testNamedSequences = ({ kills, client }: { kills: boolean; client: () => Client }): void => {
  for (const one of namedSequences)
    if (isKilling(one) === kills)
      it(one.title, async () => {
        const graph = cases[one.graph];
        if (!graph) throw new Error(`No case for the graph "${one.graph}"`);
        await play(client(), [one.graph, graph], one.operations);
      });
};

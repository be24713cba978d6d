// Operations on a thread, and sequences of them as values that fast-check makes and shrinks.
import fc from 'fast-check';
import type { GraphCase } from './cases.ts';

type Durability = 'sync' | 'async' | 'exit';

/** A checkpoint, by its place in the history: of the graph itself, or of a subgraph whose task is in one of its states. */
export interface Place {
  nth: number;
  subgraph: boolean;
}

export interface RunOptions {
  durability: Durability;
  at?: Place | undefined;
  before?: string[] | '*' | undefined;
  after?: string[] | '*' | undefined;
  /** The executor is killed after so many nodes. */
  kill?: number | undefined;
}

export type Operation =
  | ({ do: 'run'; input: unknown } & RunOptions)
  /** `plain` answers with the value itself, `one` and `all` by the ids of interrupts. */
  | ({ do: 'answer'; by: 'plain' | 'one' | 'all'; value: unknown; update?: unknown } & RunOptions)
  | ({ do: 'command'; update?: unknown; goto?: unknown } & RunOptions)
  | { do: 'update'; values: unknown; asNode?: string | undefined; at?: Place | undefined }
  // Operations of the server only.
  | { do: 'deleteRun'; nth: number }
  | { do: 'copy' }
  | { do: 'prune' };

/** The value in one of so many cases, otherwise undefined, to which it shrinks. */
const maybe = <T>(value: fc.Arbitrary<T>, oneIn: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const place: fc.Arbitrary<Place> = fc.record({
  nth: fc.nat({ max: 8 }),
  subgraph: fc.boolean(),
});

export interface Sequences {
  lengthMax: number;
  /** Whether executors are killed. */
  kills: boolean;
}

const killIn = (kills: boolean): fc.Arbitrary<number | undefined> =>
  kills ? maybe(fc.nat({ max: 3 }), 3) : fc.constant(undefined);

const operation = (
  { inputs, updates, nodes, sends = nodes, answers }: GraphCase,
  { kills }: Sequences,
): fc.Arbitrary<Operation> => {
  const node = fc.constantFrom(...nodes);
  const breakpoints = maybe(fc.oneof(fc.constant('*' as const), fc.tuple(node)), 6);
  const run = {
    durability: fc.constantFrom<Durability>('async', 'sync', 'exit'),
    at: maybe(place, 4),
    before: breakpoints,
    after: breakpoints,
    kill: killIn(kills),
  };
  const update = fc.constantFrom(...updates);
  const goto = fc.oneof(
    node,
    fc.record({ node: fc.constantFrom(...sends), input: update }),
    fc.array(node, { minLength: 1, maxLength: 2 }),
  );
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('run' as const),
        input: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...inputs) }, fc.constant(null)),
        ...run,
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('answer' as const),
        by: fc.constantFrom('plain' as const, 'one' as const, 'all' as const),
        value: fc.constantFrom(...answers),
        update: maybe(update, 6),
        ...run,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('command' as const),
        update: maybe(update, 2),
        goto: maybe(goto, 2),
        ...run,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('update' as const),
        values: fc.oneof({ weight: 5, arbitrary: update }, fc.constant(null)),
        asNode: maybe(fc.oneof({ weight: 3, arbitrary: node }, fc.constantFrom('__start__', '__end__')), 2),
        at: maybe(place, 4),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.oneof<fc.Arbitrary<Operation>[]>(
        fc.record({ do: fc.constant('deleteRun' as const), nth: fc.nat({ max: 3 }) }),
        fc.record({ do: fc.constant('copy' as const) }),
        fc.record({ do: fc.constant('prune' as const) }),
      ),
    },
  ) as fc.Arbitrary<Operation>;
};

/** Most begin with a run: without a state, the other operations do little. */
export const sequenceOf = (one: GraphCase, options: Sequences): fc.Arbitrary<Operation[]> => {
  const any = operation(one, options);
  const start = fc.record({
    do: fc.constant('run' as const),
    input: fc.constantFrom(...one.inputs),
    durability: fc.constantFrom<Durability>('async', 'sync', 'exit'),
    kill: killIn(options.kills),
  });
  const rest = fc.array(any, { maxLength: options.lengthMax - 1, size: 'max' });
  return fc
    .tuple(fc.oneof({ weight: 4, arbitrary: start }, { weight: 1, arbitrary: any }), rest)
    .map(([first, others]) => [first, ...others]);
};

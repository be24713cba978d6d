// trace_merge() decides for each field of a trace run whether the stored or the new value is kept.
import { expect, it } from 'vitest';
import {
  metadataBit,
  sentStartBit,
  startTimeBit,
  traceFields,
} from '../../src/storage/tracing/trace-columns.ts';
import { testDatabase } from '../database.ts';
import { read, rolledBack } from './rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

/** Rank 0 and no patched field: a POST. */
interface Side {
  rank?: number;
  patched?: number;
  ranks?: object;
  metadata?: object;
}

interface Case {
  title: string;
  old: Side;
  new: Side;
  /** Bits whose new value has priority, and bits whose old value has. */
  wins?: number;
  loses?: number;
  expected: { rank?: number; patched?: number; ranks?: object | null; metadata?: object };
}

const { name, outputs, error, dotted_order } = traceFields;

const cases: Case[] = [
  {
    title: 'of two POSTs, the later one has priority',
    old: {},
    new: {},
    wins: name | outputs,
    expected: { rank: 0, patched: 0, ranks: null },
  },
  {
    title: 'a PATCH has priority over a POST for its fields',
    old: {},
    new: { rank: 5, patched: outputs },
    wins: outputs,
    expected: { rank: 5, patched: outputs, ranks: null },
  },
  {
    title: 'a POST that arrives after a PATCH has priority for the other fields only',
    old: { rank: 5, patched: outputs },
    new: {},
    wins: name,
    loses: outputs,
    expected: { rank: 5, patched: outputs, ranks: null },
  },
  {
    title: 'a PATCH of a higher rank has priority',
    old: { rank: 5, patched: outputs },
    new: { rank: 6, patched: outputs },
    wins: outputs,
    expected: { rank: 6, ranks: null },
  },
  {
    title: 'a PATCH of a lower rank that arrives later does not',
    old: { rank: 6, patched: outputs },
    new: { rank: 5, patched: outputs },
    loses: outputs,
    expected: { rank: 6, ranks: null },
  },
  {
    title: 'of two PATCHes of the same rank, the later one has priority',
    old: { rank: 5, patched: outputs },
    new: { rank: 5, patched: outputs },
    wins: outputs,
    expected: { rank: 5, ranks: null },
  },
  {
    title: 'a field that was set by a PATCH of a lower rank keeps this rank',
    old: { rank: 5, patched: outputs },
    new: { rank: 6, patched: error },
    wins: error,
    expected: { rank: 6, patched: outputs | error, ranks: { [outputs]: 5 } },
  },
  {
    title: 'a field is compared by its own rank',
    old: { rank: 7, patched: outputs | error, ranks: { [outputs]: 5 } },
    new: { rank: 6, patched: outputs | error },
    wins: outputs,
    loses: error,
    expected: { rank: 7, ranks: { [outputs]: 6 } },
  },
  {
    title: 'ranks that are equal again are not stored',
    old: { rank: 6, patched: outputs | error, ranks: { [outputs]: 5 } },
    new: { rank: 6, patched: outputs },
    wins: outputs,
    expected: { rank: 6, ranks: null },
  },
  {
    title: 'a start that was sent has priority over a later one that was derived',
    old: { patched: sentStartBit },
    new: {},
    wins: dotted_order,
    loses: startTimeBit,
    expected: { patched: sentStartBit },
  },
  {
    title: 'a derived start follows from the dotted order that has priority',
    old: { rank: 5, patched: dotted_order },
    new: {},
    loses: startTimeBit | dotted_order,
    expected: { rank: 5 },
  },
  {
    title: 'metadata of both sides is merged, and the higher rank has priority for a common key',
    old: { rank: 6, patched: metadataBit, metadata: { a: 'old', b: 'old' } },
    new: { rank: 5, patched: metadataBit, metadata: { b: 'new', c: 'new' } },
    expected: { rank: 6, metadata: { a: 'old', b: 'old', c: 'new' }, ranks: { m: { c: 5 } } },
  },
  {
    title: 'a key of metadata is compared by its own rank',
    old: { rank: 7, patched: metadataBit, metadata: { a: 'old', b: 'old' }, ranks: { m: { b: 5 } } },
    new: { rank: 6, patched: metadataBit, metadata: { a: 'new', b: 'new' } },
    expected: { rank: 7, metadata: { a: 'old', b: 'new' }, ranks: { m: { b: 6 } } },
  },
  {
    title: 'a write without metadata keeps the stored keys and their ranks',
    old: { rank: 6, patched: metadataBit, metadata: { a: 1, b: 1 }, ranks: { m: { b: 5 } } },
    new: {},
    expected: { rank: 6, metadata: { a: 1, b: 1 }, ranks: { m: { b: 5 } } },
  },
];

const sideOf = ({ rank = 0, patched = 0, ranks, metadata = {} }: Side): unknown[] => [
  rank,
  patched,
  ranks ? JSON.stringify(ranks) : null,
  JSON.stringify(metadata),
];

it.each(cases.map((one) => [one.title, one] as const))(
  '%s',
  (_, { wins = 0, loses = 0, expected, ...sides }) =>
    rolledBack(db, async (tx) => {
      const [merged] = await read(tx, 'select * from trace_merge($1, $2, $3, $4, $5, $6, $7, $8)', [
        ...sideOf(sides.old),
        ...sideOf(sides.new),
      ]);
      expect(merged).toMatchObject(expected);
      expect(Number(merged?.['wins']) & (wins | loses)).toBe(wins);
    }),
);

it('trace_bit() has the bits of trace-columns.ts', async () => {
  const names = Object.keys(traceFields);
  const rows = await read(db, 'select n as name, trace_bit(n) as bit from unnest($1::text[]) n', [names]);
  expect(Object.fromEntries(rows.map(({ name: of, bit }) => [of, bit]))).toEqual(traceFields);
});

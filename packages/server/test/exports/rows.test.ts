// Which rows are in which file, and in what order.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RowScope } from '../../src/exports/parquet/export-file.ts';
import { parseFilter } from '../../src/tracing/filter/parse-filter.ts';
import { defaultLimits } from './files.ts';
import {
  at,
  dayMs,
  expectEachRowOnce,
  inOrder,
  newScope,
  now,
  openRowFiles,
  type RowFiles,
  runOf,
  shape,
} from './row-files.ts';
import { fixture } from '../fixture.ts';

const opened = fixture(() => openRowFiles());
let store: RowFiles['store'];
let idsIn: RowFiles['idsIn'];
let folder: RowFiles['folder'];
let database: RowFiles['database'];
beforeAll(async () => {
  ({ store, idsIn, folder, database } = opened);
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

describe('the files of an export partition run', () => {
  it('contain each row once, in order, with any page and file sizes', async () => {
    await expectEachRowOnce(opened, 3);
  });

  it('include the first microseconds of a day when the span ends there', async () => {
    const midnight = Date.parse(`${dayOf(now)}T00:00:00Z`);
    const scope = newScope({ since: at(midnight), until: at(midnight, 500) });
    const runs = [0, 499, 500].map((micros) => runOf(scope.session_id, at(midnight, micros)));
    await store(scope.tenant_id, runs);
    const files = await folder.writeAll({ scope, shape });
    expect(await idsIn(files)).toEqual(runs.slice(0, 2).map((run) => run.id));
  });

  it('contain each of 10,000 rows of one microsecond once', async () => {
    const scope = newScope();
    const runs = Array.from({ length: 10_000 }, () => runOf(scope.session_id, at(now, 7)));
    await store(scope.tenant_id, runs);
    const limits = { ...defaultLimits, pageRows: 999, fileBytes: 100_000 };
    const files = await folder.writeAll({ scope, shape, limits });
    expect(files.length).toBeGreaterThan(1);
    expect(await idsIn(files)).toEqual(runs.toSorted(inOrder).map((run) => run.id));
    const [first, last] = [files[0], files.at(-1)];
    expect([first?.min_start_time, last?.max_start_time]).toEqual([at(now, 7), at(now, 7)]);
  });

  it('contain the trace runs that started on their day, to the microsecond', async () => {
    const day = Date.parse(`${dayOf(now - 3 * dayMs)}T00:00:00Z`);
    const scope = newScope({ since: at(day), until: at(day + dayMs) });
    const times = [at(day - 1, 999), at(day), at(day + dayMs - 1, 999), at(day + dayMs)];
    const runs = times.map((time) => runOf(scope.session_id, time));
    await store(scope.tenant_id, runs);
    expect(await idsIn(await folder.writeAll({ scope, shape }))).toEqual([runs[1]?.id, runs[2]?.id]);
    // A day without a partition.
    const far = { ...scope, since: '1970-01-01T00:00:00.000000Z', until: '1970-01-02T00:00:00.000000Z' };
    const old = [
      '1969-12-31T23:59:59.999999Z',
      '1970-01-01T00:00:00.000000Z',
      '1970-01-01T23:59:59.999999Z',
    ].map((time) => runOf(scope.session_id, time));
    await store(scope.tenant_id, old);
    expect(await idsIn(await folder.writeAll({ scope: far, shape }))).toEqual([old[1]?.id, old[2]?.id]);
  });

  it('omit later rows and rows of other projects and workspaces', async () => {
    const scope = newScope();
    const other = { ...scope, session_id: randomUUID() };
    const run = runOf(scope.session_id, at(now));
    await store(scope.tenant_id, [run, runOf(other.session_id, at(now))]);
    await store(randomUUID(), [runOf(scope.session_id, at(now))]);
    const [{ until } = { until: '' }] = await database.query<{ until: string }>(
      {
        name: '',
        text: `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until`,
      },
      [],
    );
    await store(scope.tenant_id, [runOf(scope.session_id, at(now - 1))]);
    const files = await folder.writeAll({ scope: { ...scope, inserted_until: until }, shape });
    expect(await idsIn(files)).toEqual([run.id]);
  });

  it('do not change with rows that are stored while they are written', async () => {
    const scope = newScope();
    const runs = Array.from({ length: 2_000 }, (_, index) => runOf(scope.session_id, at(now + index)));
    await store(scope.tenant_id, runs);
    const [{ until } = { until: '' }] = await database.query<{ until: string }>(
      {
        name: '',
        text: `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until`,
      },
      [],
    );
    let isWriting = true;
    const storing = (async () => {
      while (isWriting)
        await store(
          scope.tenant_id,
          [0, 500, 1_999].map((index) => runOf(scope.session_id, at(now + index, 1))),
        );
    })();
    const limits = { ...defaultLimits, pageRows: 100, fileBytes: 20_000 };
    const files = await folder.writeAll({ scope: { ...scope, inserted_until: until }, shape, limits });
    isWriting = false;
    await storing;
    expect(await idsIn(files)).toEqual(runs.map((run) => run.id));
  });

  it('contain the rows that match their filter, and no file is empty', async () => {
    const scope = newScope();
    const runs = Array.from({ length: 300 }, (_, index) =>
      runOf(scope.session_id, at(now + index), { name: index % 100 === 0 ? `it's "odd" \\` : 'even' }),
    );
    await store(scope.tenant_id, runs);
    const filtered = (text: string): RowScope => ({ ...scope, condition: parseFilter(text) });
    const odd = filtered(String.raw`eq(name, "it's \"odd\" \\")`);
    const limits = { ...defaultLimits, fileBytes: 1 };
    const files = await folder.writeAll({ scope: odd, shape, limits });
    expect(await idsIn(files)).toEqual([0, 100, 200].map((index) => runs[index]?.id));
    expect(files.map((file) => file.is_last)).toEqual([false, false, true]);
    expect(await folder.write({ scope: filtered('eq(name, "none")'), shape })).toBe(undefined);
    expect(await folder.names()).not.toContainEqual(expect.stringContaining('spill'));
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { traceTasks } from '../../src/tracing/traces/trace-tasks.ts';
import { feedbackStorage } from '../../src/storage/tracing/feedback.ts';
import { projectStorage } from '../../src/storage/tracing/projects.ts';
import { traceHourStorage } from '../../src/storage/tracing/trace-hours.ts';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';
import { traceWrite } from './trace-write.ts';

const tenant_id = randomUUID();
const database = fixture(() => testDatabase());
const traces = fixture(() => traceStorage(database));

const newRun = (start_time: string | null) => traceWrite(start_time, { name: 'x' });

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

const store = async (daysKept: number, ...starts: (string | null)[]): Promise<string[]> => {
  const runs = starts.map(newRun);
  await traces.ingest(
    tenant_id,
    runs,
    [{ run_id: runs[0]?.id ?? '', name: 'a', content_type: 'text/plain', content: Buffer.from('a') }],
    daysKept,
  );
  return runs.map((run) => run.id);
};

const doAll = async (daysKept: number): Promise<void> => {
  const signal = new AbortController().signal;
  const parts = {
    partitions: tracePartitionStorage(database),
    hours: traceHourStorage(database),
    projects: projectStorage(database),
    feedback: feedbackStorage(database),
  };
  for (const task of traceTasks(parts, daysKept)) while ((await task.work(signal)) >= (task.batch ?? 1));
};

const partitions = async (): Promise<number> => {
  const rows = await database.query<{ count: number }>(
    { name: 'partitions', text: `select count(*) from pg_inherits where inhparent = 'trace_runs'::regclass` },
    [],
  );
  return rows[0]?.count ?? 0;
};

const present = async (ids: string[]): Promise<boolean[]> => {
  const found = await Promise.all(ids.map((id) => traces.find(tenant_id, id)));
  return found.map((run) => run !== undefined);
};

describe('traces', () => {
  it('have partitions in advance', async () => {
    await doAll(30);
    expect(await partitions()).toBe(4);
  });

  it('are kept for the configured time, whatever their start time', async () => {
    const recent = await store(30, daysAgo(0), daysAgo(5), daysAgo(29));
    const odd = await store(30, daysAgo(31), daysAgo(20_000), daysAgo(-20_000), null);
    await doAll(30);
    expect(await present([...recent, ...odd])).toEqual([true, true, true, true, true, true, true]);
    await doAll(4);
    expect(await present([...recent, ...odd])).toEqual([true, false, false, true, true, true, true]);
    // Rows without a day of their own expire after the same time.
    await database.query(
      {
        name: 'age',
        text: `update trace_runs set inserted_at = now() - interval '6 days' where id = any ($1)`,
      },
      [odd],
    );
    await doAll(4);
    expect(await present(odd)).toEqual([false, false, false, false]);
    const left = await database.query(
      { name: 'left', text: 'select id from trace_run_days where id = any ($1)' },
      [[...recent.slice(1), ...odd]],
    );
    expect(left).toEqual([]);
    const files = await database.query<{ run_id: string }>(
      { name: 'files', text: 'select run_id from trace_attachments' },
      [],
    );
    expect(files).toEqual([{ run_id: recent[0] }]);
  });

  it('for an expired day are accepted and not stored', async () => {
    const expired = newRun(daysAgo(20));
    await traces.ingest(tenant_id, [expired], [], 30);
    const days = tracePartitionStorage(database);
    while (await days.dropOldest(10));
    const good = newRun(daysAgo(0));
    const file = { name: 'notes.txt', content_type: 'text/plain', content: Buffer.from('a') };
    for (const start_time of [null, expired.start_time]) {
      const patch: TraceWrite = { ...expired, rank: 1, writes: ['2'], start_time };
      const files = [expired, good].map((run) => ({ ...file, run_id: run.id }));
      await traces.ingest(tenant_id, [patch, good], files, 10);
    }
    expect(await present([expired.id, good.id])).toEqual([false, true]);
    expect(await traces.findAttachment(tenant_id, expired.id, 'notes.txt')).toBeUndefined();
    expect(await traces.findAttachment(tenant_id, good.id, 'notes.txt')).toBeDefined();
  });

  it('of many unusual days create no partitions', async () => {
    const before = await partitions();
    await store(30, ...Array.from({ length: 200 }, (_, index) => daysAgo(1_000 + index)));
    expect(await partitions()).toBe(before);
  });

  it('create the partition of a day once, with concurrent writers', async () => {
    const before = await partitions();
    await Promise.all(Array.from({ length: 8 }, () => store(60, daysAgo(45), daysAgo(44))));
    expect(await partitions()).toBe(before + 2);
  });

  it('take their feedback with them, also when it came without a trace', async () => {
    const feedback = feedbackStorage(database);
    await database.query(
      {
        name: 'workspace',
        text: `insert into workspaces (id, display_name) values ($1, 'x') on conflict do nothing`,
      },
      [tenant_id],
    );
    const [kept = '', expired = ''] = await store(30, daysAgo(1), daysAgo(8));
    const [early, late, orphan] = [kept, expired, randomUUID()];
    const ids = [];
    for (const run_id of [early, late, orphan, orphan]) {
      const id = randomUUID();
      ids.push(id);
      await feedback.put({
        tenant_id,
        id,
        run_id,
        trace_id: null,
        session_id: null,
        key: 'score',
        score: '1',
        value: null,
        correction: null,
        comment: null,
        feedback_source: {},
      });
    }
    // Of the kept trace and of none; the feedback of the expired trace is new.
    await database.query(
      {
        name: 'age_feedback',
        text: `update feedback set created_at = now() - interval '8 days' where id = any ($1)`,
      },
      [[ids[0], ids[2]]],
    );
    await doAll(7);
    const left = await Promise.all(ids.map((id) => feedback.find(tenant_id, id)));
    expect(left.map((row) => row !== undefined)).toEqual([true, false, false, true]);
  });
});

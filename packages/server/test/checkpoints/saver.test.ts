// The saver returns the values that were put, of any type, and shares unchanged parts between checkpoints.
import { HumanMessage } from '@langchain/core/messages';
import { emptyCheckpoint, uuid6, type Checkpoint } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { LeaseLost } from '../../src/engine/checkpoints/commit-queue.ts';
import { idAfter } from '../../src/engine/checkpoints/checkpoint-ids.ts';
import { anyValue, assertSame } from '../codec-values.ts';
import { testDatabase } from '../database.ts';
import { ThreadSavers } from './thread-savers.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());

const checkpointOf = (channel_values: Record<string, unknown>, version: number): Checkpoint => ({
  ...emptyCheckpoint(),
  id: uuid6(version),
  channel_values,
  channel_versions: Object.fromEntries(Object.keys(channel_values).map((channel) => [channel, version])),
});

const metadata = (step: number) => ({ source: 'loop' as const, step, parents: {} });

describe('the saver', () => {
  it('returns exactly what was put, over random sequences of checkpoints and values', async () => {
    const state = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), anyValue, {
      maxKeys: 4,
      noNullPrototype: true,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(state, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (states, sync) => {
          const savers = new ThreadSavers(database, { sync });
          const thread_id = randomUUID();
          let config = { configurable: { thread_id, checkpoint_ns: '' } };
          const put: { id: string; values: Record<string, unknown> }[] = [];
          for (const [step, values] of states.entries()) {
            config = (await savers.put(
              config,
              checkpointOf(values, step + 1),
              metadata(step),
            )) as typeof config;
            put.push({
              id: (config.configurable as unknown as { checkpoint_id: string }).checkpoint_id,
              values,
            });
          }
          await savers.flush();
          savers.forget();
          for (const { id, values } of put) {
            const tuple = await savers.getTuple({
              configurable: { thread_id, checkpoint_ns: '', checkpoint_id: id },
            });
            assertSame(tuple?.checkpoint.channel_values, values);
          }
          const head = await savers.getTuple({ configurable: { thread_id, checkpoint_ns: '' } });
          expect(head?.checkpoint.id).toBe(put.at(-1)?.id);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('stores the answers of a finished task that interrupted several times', async () => {
    const savers = new ThreadSavers(database);
    const thread_id = randomUUID();
    const config = await savers.put(
      { configurable: { thread_id, checkpoint_ns: '' } },
      checkpointOf({}, 1),
      metadata(0),
    );
    const writes: [string, unknown][] = [
      ['__resume__', ['a']],
      ['__resume__', ['a', 'b']],
      ['log', 'done'],
    ];
    await savers.putWrites(config, writes, 'task');
    savers.forget();
    expect((await savers.getTuple(config))?.pendingWrites).toEqual([
      ['task', '__resume__', ['a', 'b']],
      ['task', 'log', 'done'],
    ]);
  });

  it('reads no blob that an earlier run of the process has stored or read', async () => {
    const savers = new ThreadSavers(database);
    const read = vi.spyOn(savers.storage, 'blobs');
    const thread = { configurable: { thread_id: randomUUID(), checkpoint_ns: '' } };
    const messages = Array.from({ length: 60 }, (_, n) => new HumanMessage(`${n} `.padEnd(500, 'q')));
    await savers.put(thread, checkpointOf({ messages, plan: 'p'.repeat(3_000) }, 1), metadata(0));
    const valuesOfNextRun = async () => (await savers.getTuple(thread))?.checkpoint.channel_values;
    savers.forgetSessions();
    const values = await valuesOfNextRun();
    const readOf = (calls: typeof read.mock.calls) => calls.flatMap(([, hashes]) => hashes);
    expect(readOf(read.mock.calls)).toEqual([]);
    savers.forget();
    assertSame(await valuesOfNextRun(), values);
    expect(readOf(read.mock.calls)).not.toEqual([]);
    read.mockClear();
    savers.forgetSessions();
    assertSame(await valuesOfNextRun(), values);
    expect(readOf(read.mock.calls)).toEqual([]);
  });

  it('keeps 5 MB strings, NUL, lone surrogates and binary', async () => {
    const values = {
      long: 'é'.repeat(2_500_000),
      nul: 'a\u0000b',
      lone: '\ud800',
      bytes: new Uint8Array([0, 255, 7]),
      at: new Date(0),
      none: undefined,
    };
    const savers = new ThreadSavers(database);
    const thread_id = randomUUID();
    await savers.put(
      { configurable: { thread_id, checkpoint_ns: '' } },
      checkpointOf(values, 1),
      metadata(0),
    );
    savers.forget();
    const tuple = await savers.getTuple({ configurable: { thread_id, checkpoint_ns: '' } });
    assertSame(tuple?.checkpoint.channel_values, values);
  });

  it('stores a message once, however many checkpoints hold it', async () => {
    const savers = new ThreadSavers(database);
    const thread_id = randomUUID();
    let config = { configurable: { thread_id, checkpoint_ns: '' } };
    let messages: HumanMessage[] = [];
    for (let turn = 0; turn < 100; turn++) {
      messages = [...messages, new HumanMessage({ content: `${turn} `.padEnd(500, 'q'), id: randomUUID() })];
      config = (await savers.put(
        config,
        checkpointOf({ messages }, turn + 1),
        metadata(turn),
      )) as typeof config;
    }
    const [row] = await database.query<{ bytes: number; blobs: number }>(
      {
        name: 'bytes',
        text: 'select sum(length(payload)) as bytes, count(*) as blobs from blobs where space = $1',
      },
      [thread_id],
    );
    expect(row?.bytes).toBeLessThan(3 * 100 * 500);
  });

  it('reads its own writes before they are durable', async () => {
    const savers = new ThreadSavers(database, { sync: false });
    const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: '' } };
    const saved = await savers.put(config, checkpointOf({ a: [{ b: 1 }] }, 1), metadata(0));
    await savers.putWrites(saved, [['a', { b: 2 }]], 'task');
    const tuple = await savers.getTuple(config);
    expect(tuple).toMatchObject({
      checkpoint: { channel_values: { a: [{ b: 1 }] } },
      pendingWrites: [['task', 'a', { b: 2 }]],
    });
  });

  it('rejects a writer without a valid lease, and stores nothing of it', async () => {
    const savers = new ThreadSavers(database);
    const other = new ThreadSavers(database);
    const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: '' } };
    await savers.put(config, checkpointOf({ a: 1 }, 1), metadata(0));
    const seen = await other.getTuple(config);
    const first = await savers.put(seen?.config ?? config, checkpointOf({ a: 2 }, 2), metadata(1));
    // The other writer still has the first checkpoint as its head.
    await expect(other.put(seen?.config ?? config, checkpointOf({ a: 3 }, 2), metadata(1))).rejects.toThrow(
      LeaseLost,
    );
    savers.forget();
    const head = await savers.getTuple(config);
    expect(head?.checkpoint.id).toBe(first.configurable?.['checkpoint_id']);
    expect(head?.checkpoint.channel_values).toEqual({ a: 2 });
  });

  it("gives a child an id after its parent's, also when the clock was set back", () => {
    fc.assert(
      fc.property(fc.uuid({ version: 6 }), fc.uuid({ version: 6 }), (parent, id) => {
        fc.pre(!parent.startsWith('ffffffff-ffff-6fff'));
        const child = idAfter(id, parent);
        expect(child > parent).toBe(true);
        expect(child).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
        if (id > parent) expect(child).toBe(id);
      }),
    );
  });
});

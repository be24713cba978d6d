// Pruning in random sequences, and concurrently with runs: no value is lost.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatInput, long, type PruningServer, startPruningServer } from './pruning-server.ts';
import { scaled } from './speed.ts';
import { fixture } from './fixture.ts';

const pruning = fixture(() => startPruningServer());
let client: PruningServer['client'];
let newThread: PruningServer['newThread'];
let keepLatest: PruningServer['keepLatest'];
let collect: PruningServer['collect'];
let history: PruningServer['history'];
beforeAll(async () => {
  ({ client, newThread, keepLatest, collect, history } = pruning);
});

describe('threads that are run, copied, forked, pruned, deleted and collected', () => {
  const texts = ['red', 'green', 'blue'].map(long);
  const nth = fc.nat({ max: 5 });
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('run' as const), nth, text: fc.constantFrom(...texts) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('fork' as const), nth, text: fc.constantFrom(...texts) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('copy' as const, 'prune' as const), nth }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'undo' as const), nth }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('collect' as const), nth }) },
  );
  const contents = (values: unknown): string[] =>
    ((values as { messages?: { content: string }[] }).messages ?? []).map(({ content }) => content);

  it(
    'have the expected messages in their state and history',
    async () => {
      const steps = fc.array(step, { minLength: 4, maxLength: 14 });
      await fc.assert(
        fc.asyncProperty(steps, async (list) => {
          // Threads and the messages of their newest states.
          const model = new Map<string, string[]>([[await newThread(), []]]);
          for (const one of list) {
            const thread_id = [...model.keys()][one.nth % model.size] ?? '';
            const known = model.get(thread_id) ?? [];
            switch (one.kind) {
              case 'run':
                await client.runs.wait(thread_id, 'chat', {
                  input: { messages: [{ role: 'user', content: one.text }] },
                });
                model.set(thread_id, [...known, one.text, `echo ${one.text}`]);
                break;
              case 'fork': {
                const past = await history(thread_id);
                const from = past[one.text.length % Math.max(past.length, 1)];
                if (!from?.checkpoint_id) break;
                await client.threads.updateState(thread_id, {
                  values: { messages: [{ role: 'ai', content: one.text }] },
                  asNode: 'answer',
                  checkpointId: from.checkpoint_id,
                });
                model.set(thread_id, [...contents(from.values), one.text]);
                break;
              }
              case 'copy':
                model.set((await client.threads.copy(thread_id)).thread_id, known);
                break;
              case 'prune':
                expect(await keepLatest(thread_id)).toBe(1);
                expect((await history(thread_id)).length).toBeLessThanOrEqual(1);
                break;
              case 'delete':
                if (model.size === 1) break;
                await client.threads.delete(thread_id);
                model.delete(thread_id);
                break;
              case 'undo': {
                const [run] = await client.runs.list(thread_id);
                if (!run) break;
                await client.runs.delete(thread_id, run.run_id);
                model.set(thread_id, contents((await client.threads.getState(thread_id)).values));
                break;
              }
              case 'collect':
                expect(await collect()).toBe(true);
            }
            for (const [id, expected] of model) {
              expect(contents((await client.threads.getState(id)).values), one.kind).toEqual(expected);
              await history(id); // fails when a value is missing
            }
          }
        }),
        { numRuns: 12 },
      );
    },
    scaled(120_000),
  );

  it(
    'lose nothing when that happens concurrently',
    async () => {
      const root = await newThread();
      await client.runs.wait(root, 'chat', { input: chatInput('root') });
      const threads = [root];
      for (let n = 0; n < 4; n++) threads.push((await client.threads.copy(root)).thread_id);
      let isOver = false;
      const sweeping = (async () => {
        let collected = 0;
        while (!isOver) if (await collect()) collected += 1;
        return collected;
      })();
      const work = async (thread_id: string, index: number): Promise<void> => {
        for (let round = 0; round < 6; round++) {
          await client.runs.wait(thread_id, 'chat', {
            input: chatInput(['red', 'green', 'blue'][(round + index) % 3] ?? ''),
          });
          if (round % 2 === 0) await keepLatest(thread_id);
          const [at] = (await history(thread_id)).toReversed();
          await client.threads.updateState(thread_id, {
            values: { messages: [{ role: 'ai', content: long('green') }] },
            asNode: 'answer',
            ...(at?.checkpoint_id ? { checkpointId: at.checkpoint_id } : {}),
          });
        }
      };
      await Promise.all(threads.map(work));
      isOver = true;
      await sweeping;
      expect(await collect()).toBe(true);
      for (const thread_id of threads) {
        for (const { values } of await history(thread_id)) expect(contents(values).length).toBeGreaterThan(0);
      }
    },
    scaled(120_000),
  );
});

// A state with a long list, which is read in pages.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StateReader } from '../../src/deployment/threads/state-reader.ts';
import type { StateTasks } from '../../src/deployment/threads/state-rendering.ts';
import { StateService } from '../../src/deployment/threads/state-service.ts';
import type { JsonTasks } from '../../src/parsing/json-task.ts';
import type { ParserPool } from '../../src/parsing/parser-pool.ts';
import { createParsing } from '../../src/parsing/parsing.ts';
import type { TaskRunner } from '../../src/parsing/tasks.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage } from '../../src/storage/storage.ts';
import type { TestServer } from '../server.ts';

/** Creates a thread with the value as `out` in its state. */
export const threadWithOut = async (client: Client, out: unknown): Promise<string> => {
  const { thread_id } = await client.threads.create({ graphId: 'probe' });
  await client.threads.updateState(thread_id, { values: { out }, asNode: 'act' });
  return thread_id;
};

/** Tests of a state with a list of that many elements, whose texts have about so many characters. */
export const testLongState = (length: number, chars: number, serverOf: () => TestServer) =>
  describe(`a list of ${length} elements with ${chars} characters each`, () => {
    const elements = Array.from({ length }, (_, at) => ({ at, text: `${at} ${'x'.repeat(chars)}` }));
    const tasks: string[] = [];
    let parser: ParserPool<JsonTasks & StateTasks>;
    let client: Client;
    let thread_id: string;
    let pageAt: (path: string, more?: object) => Promise<unknown>;
    beforeAll(async () => {
      const server = serverOf();
      client = createClient({ apiUrl: server.url });
      thread_id = await threadWithOut(client, elements);
      ({ parser } = createParsing<JsonTasks & StateTasks>(1_000_000, { warn: () => undefined }));
      const recording: TaskRunner<StateTasks> = {
        run: (name, ...rest) => {
          tasks.push(name);
          return parser.run(name, ...rest);
        },
      };
      const storage = createStorage(server.database);
      const states = new StateService(storage, new StateReader(storage, recording), undefined as never);
      const request = { path: '', offset: 0, limit: 100, chars: 100, whole: 2_048 };
      pageAt = async (path, more = {}) =>
        JSON.parse(await states.value(thread_id, {}, everyRow, { ...request, path, ...more }));
    });

    afterAll(() => parser[Symbol.asyncDispose]());

    it('has pages and elements for which a parser thread gets no other elements', async () => {
      // A request that reads another element fails.
      await serverOf().database.query(
        {
          name: 'break_elements',
          text: `update blobs set payload = '?' where space = $1 and payload like '{"at":%' and payload not like '{"at":7,%' and payload not like $2`,
        },
        [thread_id, `{"at":${length - 1},%`],
      );
      const last = await pageAt('/out', { offset: -1 });
      expect(tasks.splice(0)).toEqual(['missing', 'value']);
      expect(last).toMatchObject({ length, entries: [{ key: String(length - 1), value: elements.at(-1) }] });
      expect(last).not.toHaveProperty('size');
      await expect(pageAt('/out/8')).rejects.toThrow('JSON');
      expect(await pageAt('/out/7/text')).toMatchObject({ length: chars + 2, offset: 0, next: 100 });
    });

    it('tells the length of a long list, and when it has changed, without its elements', async () => {
      const rootOf = async () => {
        const root = (await pageAt('', { digests: true })) as { entries: Record<string, unknown>[] };
        return root.entries.find(({ key }) => key === 'out') ?? {};
      };
      tasks.length = 0;
      const before = await rootOf();
      expect(tasks.splice(0)).toEqual(['missing', 'value']);
      expect(before).toMatchObject({ type: 'array', length, digest: expect.any(String) as string });
      expect(before).not.toHaveProperty('size');
      expect(await rootOf()).toEqual(before);
      thread_id = await threadWithOut(client, [...elements.slice(1), 'another']);
      expect((await rootOf())['digest']).not.toBe(before['digest']);
    });

    it('has the sizes of entries that are read whole', async () => {
      const texts = ['a', 'b'].map((letter) => letter.repeat(400_000));
      thread_id = await threadWithOut(client, texts);
      expect(await pageAt('')).toMatchObject({
        entries: expect.arrayContaining([{ key: 'out', type: 'array', length: 2, size: 800_007 }]) as unknown,
      });
      expect(await pageAt('/out')).toMatchObject({
        size: 800_007,
        entries: texts.map((text) => ({ type: 'string', size: 400_002, preview: text.slice(0, 200) })),
      });
    });
  });

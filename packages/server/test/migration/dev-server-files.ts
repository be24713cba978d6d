// Writes files as the dev server of LangGraph.js does (superjson of its stores), from threads of the engine's own memory saver.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemorySaver } from '@langchain/langgraph';
import { defaultAssistantId } from '../../src/deployment/assistants/default-assistant.ts';

type Fields = Record<string, unknown>;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** As the saver of the dev server: it adds the config of the run to the metadata of its checkpoints. */
class DevServerSaver extends MemorySaver {
  override put(
    ...[config, checkpoint, metadata]: Parameters<MemorySaver['put']>
  ): ReturnType<MemorySaver['put']> {
    return super.put(config, checkpoint, { ...config.metadata, ...metadata });
  }
}

interface Invocable {
  invoke(input: unknown, config: object): Promise<unknown>;
}

/** The content of the files. Tests change it before they write it. */
export class DevServerData {
  readonly threads: Record<string, Fields> = {};
  readonly runs: Record<string, Fields> = {};
  readonly assistants: Record<string, Fields> = {};
  readonly versions: Fields[] = [];
  readonly storage: Record<string, Record<string, Record<string, unknown[]>>> = {};
  readonly writes: Record<string, Record<string, unknown[]>> = {};
  readonly items: [namespace: string, entries: [key: string, item: unknown][]][] = [];

  addThread(fields: Fields = {}): string {
    const thread_id = randomUUID();
    const times = { created_at: '2025-01-02T03:04:05.678Z', updated_at: '2025-01-03T00:00:00.000Z' };
    this.threads[thread_id] = { thread_id, status: 'idle', metadata: {}, config: {}, ...times, ...fields };
    return thread_id;
  }

  /** A thread with a run of the graph for each input. */
  async addConversation(
    graph_id: string,
    make: (saver: MemorySaver) => Invocable,
    inputs: unknown[],
  ): Promise<string> {
    const assistant_id = defaultAssistantId(graph_id);
    const thread_id = this.addThread({ metadata: { graph_id, assistant_id, owner: 'ann' } });
    const saver = new DevServerSaver();
    const graph = make(saver);
    for (const input of inputs) {
      const run_id = this.addRun(thread_id, graph_id);
      await graph.invoke(input, {
        configurable: { thread_id },
        metadata: { run_id, graph_id, owner: 'ann' },
      });
    }
    this.storage[thread_id] = Object.fromEntries(
      Object.entries(saver.storage[thread_id] ?? {}).map(([ns, checkpoints]) => [
        ns,
        Object.fromEntries(
          Object.entries(checkpoints).map(([id, [checkpoint, metadata, parent]]) => [
            id,
            [base64(checkpoint), base64(metadata), parent ?? null],
          ]),
        ),
      ]),
    );
    for (const [key, writes] of Object.entries(saver.writes))
      this.writes[key] = Object.fromEntries(
        Object.entries(writes).map(([at, [task, channel, value, ...path]]) => [
          at,
          [task, channel, base64(value as Uint8Array), ...path],
        ]),
      );
    return thread_id;
  }

  addRun(thread_id: string, graph_id: string, fields: Fields = {}): string {
    const run_id = randomUUID();
    this.runs[run_id] = {
      run_id,
      thread_id,
      assistant_id: defaultAssistantId(graph_id),
      status: 'success',
      metadata: { graph_id, owner: 'ann' },
      kwargs: {
        input: {},
        command: null,
        config: { configurable: {} },
        stream_mode: ['values'],
        subgraphs: false,
      },
      multitask_strategy: 'reject',
      created_at: '2025-01-02T03:04:05.678Z',
      updated_at: '2025-01-02T03:04:06.000Z',
      ...fields,
    };
    return run_id;
  }

  addAssistant(assistant_id: string, names: string[]): void {
    const versions = names.map((name, index) => ({
      assistant_id,
      version: index + 1,
      graph_id: 'chat',
      name,
      description: null,
      config: { configurable: { name } },
      context: {},
      metadata: { created_by: 'system' },
      created_at: '2025-01-01T00:00:00.000Z',
    }));
    this.versions.push(...versions);
    this.assistants[assistant_id] = { ...versions.at(-1), updated_at: '2025-01-04T00:00:00.000Z' };
  }

  addItem(namespace: string[], key: string, value: unknown): void {
    const times = { createdAt: '2025-01-01T00:00:00.000Z', updatedAt: '2025-01-02T00:00:00.000Z' };
    this.items.push([namespace.join(':'), [[key, { namespace, key, value, ...times }]]]);
  }

  /** The texts of the files, by name. */
  texts(): Record<string, string> {
    const { threads, runs, assistants, versions, storage, writes, items } = this;
    const json = (value: unknown): string => JSON.stringify({ json: value, meta: { values: {}, v: 1 } });
    return {
      '.langgraphjs_ops.json': json({
        runs,
        threads,
        assistants,
        assistant_versions: versions,
        retry_counter: {},
      }),
      '.langgraphjs_api.checkpointer.json': json({ storage, writes }),
      '.langgraphjs_api.store.json': json({ data: items, vectors: [] }),
    };
  }

  write(): Promise<AsyncDisposable & { folder: string }> {
    return writeTexts(this.texts());
  }
}

/** A project folder with these files in `.langgraph_api`. */
export const writeTexts = async (
  texts: Record<string, string>,
): Promise<AsyncDisposable & { folder: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-dev-server-'));
  await mkdir(join(folder, '.langgraph_api'));
  for (const [name, text] of Object.entries(texts))
    await writeFile(join(folder, '.langgraph_api', name), text);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
};

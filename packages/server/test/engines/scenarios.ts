import type { Client } from '@svc/sdk';

interface Pending {
  id: string;
  value: unknown;
}

const pendingInterrupts = async (client: Client, thread_id: string): Promise<Pending[]> =>
  Object.values((await client.threads.get(thread_id)).interrupts ?? {}).flat() as Pending[];

const say = (content: string) => ({ input: { messages: [{ role: 'user', content }] } });

const wait = async (client: Client, thread_id: string, graph: string, body: object): Promise<unknown> =>
  client.runs.wait(thread_id, graph, body);

/** Answers each pending interrupt with its question in capitals, by the id of the interrupt. */
const answerAll = async (client: Client, thread_id: string, graph: string): Promise<unknown> => {
  const interrupts = await pendingInterrupts(client, thread_id);
  const resume = Object.fromEntries(interrupts.map(({ id, value }) => [id, String(value).toUpperCase()]));
  return wait(client, thread_id, graph, { command: { resume } });
};

export interface Scenario {
  graph: string;
  title: string;
  /** What one engine does. */
  begin: (client: Client, thread_id: string) => Promise<unknown>;
  /** What the same engine or another one does after that. */
  finish: (client: Client, thread_id: string) => Promise<unknown>;
  expected: unknown;
}

const texts = (values: unknown): string[] =>
  (values as { messages: { content: string }[] }).messages.map(({ content }) => content);

const logOf = (values: unknown): unknown => (values as { log: unknown }).log;

export const scenarios: Scenario[] = [
  {
    graph: 'counted',
    title: 'a conversation',
    async begin(client, thread_id) {
      await wait(client, thread_id, 'counted', say('one'));
      await wait(client, thread_id, 'counted', say('two'));
    },
    finish: async (client, thread_id) => texts(await wait(client, thread_id, 'counted', say('three'))),
    expected: ['one', '1', 'two', '3', 'three', '5'],
  },
  {
    graph: 'twice',
    title: 'a node at its first interrupt',
    begin: (client, thread_id) => wait(client, thread_id, 'twice', { input: {} }),
    async finish(client, thread_id) {
      await answerAll(client, thread_id, 'twice');
      return logOf(await answerAll(client, thread_id, 'twice'));
    },
    expected: ['begun', 'FIRST? SECOND?'],
  },
  {
    graph: 'twice',
    title: 'a node at its second interrupt',
    async begin(client, thread_id) {
      await wait(client, thread_id, 'twice', { input: {} });
      await answerAll(client, thread_id, 'twice');
    },
    finish: async (client, thread_id) => logOf(await answerAll(client, thread_id, 'twice')),
    expected: ['begun', 'FIRST? SECOND?'],
  },
  {
    graph: 'inside',
    title: 'an interrupted subgraph',
    begin: (client, thread_id) => wait(client, thread_id, 'inside', { input: {} }),
    async finish(client, thread_id) {
      await answerAll(client, thread_id, 'inside');
      return logOf(await answerAll(client, thread_id, 'inside'));
    },
    expected: ['begun', 'FIRST? SECOND?'],
  },
  {
    graph: 'parallel',
    title: 'two tasks that are interrupted at the same time',
    begin: (client, thread_id) => wait(client, thread_id, 'parallel', { input: {} }),
    finish: async (client, thread_id) => logOf(await answerAll(client, thread_id, 'parallel')),
    expected: ['left: LEFT', 'right: RIGHT'],
  },
  {
    graph: 'delta',
    title: 'a delta channel',
    async begin(client, thread_id) {
      await wait(client, thread_id, 'delta', say('one'));
      await wait(client, thread_id, 'delta', say('two'));
    },
    async finish(client, thread_id) {
      return ((await wait(client, thread_id, 'delta', say('three'))) as { seen: string[] }).seen;
    },
    expected: ['one', 'after 1', 'two', 'after 3', 'three'],
  },
];

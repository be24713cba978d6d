// Checked by the compiler alone: what must not compile does not.
import { createClient } from './index.ts';

const client = createClient({ apiUrl: 'http://127.0.0.1:1' });

export const wrong = async (): Promise<void> => {
  // @ts-expect-error a thread's status is one of four
  await client.threads.search({ status: 'sleeping' });
  // @ts-expect-error there is no such field
  await client.threads.create({ metdata: {} });
  // @ts-expect-error a strategy that does not exist
  await client.runs.create('id', 'agent', { multitask_strategy: 'panic' });
  // @ts-expect-error ids are text
  await client.runs.get(1, 2);
  // @ts-expect-error there is no such stream mode
  client.runs.stream('id', 'agent', { stream_mode: 'everything' });
  // @ts-expect-error a value is an object
  await client.store.put(['a'], 'k', 'text');
  const { status } = await client.threads.get('id');
  // @ts-expect-error the union is literal
  const other: 'done' = status;
  void other;
};

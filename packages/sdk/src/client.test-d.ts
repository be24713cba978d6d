// Checked only by the compiler: each call under @ts-expect-error must be a type error.
import { createClient, createPlatformClient } from './index.ts';

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

const platform = createPlatformClient({ apiUrl: 'http://127.0.0.1:1', apiKey: 'k' });

export const wrongExports = async (): Promise<void> => {
  const asked = { bulk_export_destination_id: 'd', session_id: 'p', start_time: 't' };
  await platform.exports.create({ ...asked, interval_hours: 24, export_fields: ['id', 'thread_id'] });
  // @ts-expect-error a project is needed
  await platform.exports.create({ bulk_export_destination_id: 'd', start_time: 't' });
  // @ts-expect-error there is no such compression
  await platform.exports.create({ ...asked, compression: 'brotli' });
  // @ts-expect-error there is no such field
  await platform.exports.create({ ...asked, export_fields: ['nonsense'] });
  const { status, progress } = await platform.exports.waitFor('id', {
    onProgress: (found) => found.progress.rows_written.toFixed(),
  });
  // @ts-expect-error the union is literal
  const done: 'done' = status;
  // @ts-expect-error it is a number
  const percent: string = progress.percent;
  const folder = { destination_type: 'file', display_name: 'x', config: { path: 'x' } } as const;
  await platform.destinations.create(folder);
  await platform.destinations.create({ display_name: 'x', config: { bucket_name: 'b' } });
  const credentials = { access_key_id: 'a', secret_access_key: 's' };
  // @ts-expect-error a folder has no credentials
  await platform.destinations.create({ destination_type: 'file', ...folder, credentials });
  // @ts-expect-error a bucket is needed
  await platform.destinations.create({ display_name: 'x', config: { prefix: 'b' } });
  // @ts-expect-error secrets do not come back
  void (await platform.destinations.get('id')).credentials;
  void [done, percent];
};

// Many destinations at once, at addresses that never answer.
import type { NewApiKey, Workspace } from '@svc/contract';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startPlatform } from '../platform/platform-server.ts';
import { recordingServer } from './recording-server.ts';

const path = '/bulk-exports/destinations';

it('pending tests of destinations do not prevent another workspace from creating one', async () => {
  const silent = await recordingServer(() => undefined);
  await using platform = await startPlatform({ egressAllow: '127.0.0.1' });
  const made = await platform.call('POST', '/workspaces', { json: { display_name: 'theirs' } });
  const inTheirs = { 'x-tenant-id': (made.body as Workspace).id };
  const { body } = await platform.call('POST', '/api-key', { json: { role: 'admin' }, headers: inTheirs });
  const { key } = body as NewApiKey;
  const json = {
    display_name: 'Silent',
    config: { bucket_name: 'bucket', endpoint_url: `http://127.0.0.1:${silent.port}` },
    credentials: { access_key_id: 'a', secret_access_key: 'b' },
  };
  const statuses: number[] = [];
  const tests = Array.from({ length: 20 }, async () => {
    statuses.push((await platform.call('POST', path, { key, json })).status);
  });
  await eventually(() => expect(statuses.length + silent.requests.length).toBe(20));
  const folder = { destination_type: 'file', display_name: 'Ours', config: { path: 'ours' } };
  const headers = { 'x-tenant-id': platform.workspace_id };
  expect(await platform.call('POST', path, { json: folder, headers })).toMatchObject({ status: 200 });
  expect(statuses).toEqual(Array(16).fill(429));
  await silent[Symbol.asyncDispose]();
  await Promise.all(tests);
  // A finished test takes no slot.
  expect(await platform.call('POST', path, { json: folder, key })).toMatchObject({ status: 200 });
});

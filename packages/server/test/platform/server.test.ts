// The settings in force, which only those who operate the server may see.
import type { ServerSetting, ServerWorker, Workspace } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingKeys } from '../../src/config/settings/definitions.ts';
import { eventually } from '../eventually.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

const webhookSecret = 'a secret that signs webhooks, of this test';

describe('GET /server/settings', () => {
  let platform: PlatformServer;
  let first: Record<string, string>;
  beforeAll(async () => {
    platform = await startPlatform({ webhookSecret, lease: '42s' });
    first = { 'x-tenant-id': platform.workspace_id };
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  const read = (headers: Record<string, string>, key?: string) =>
    platform.call('GET', '/server/settings', { headers, ...(key === undefined ? {} : { key }) });

  it('has every setting with its value, origin and meaning, and no secret', async () => {
    const { status, body } = await read(first);
    expect(status).toBe(200);
    const settings = body as ServerSetting[];
    expect(settings.map(({ key }) => key)).toEqual(settingKeys);
    const of = (name: string) => settings.find(({ key }) => key === name);
    expect(of('lease')).toEqual({
      key: 'lease',
      variable: 'SVC_LEASE',
      value: '42s',
      origin: 'flag lease',
      meaning: expect.stringContaining('.'),
    });
    expect(of('streamTtl')).toMatchObject({ origin: 'default' });
    for (const secret of ['webhookSecret', 'bootstrapApiKey'])
      expect(of(secret)?.value, secret).toBe('[redacted]');
    const text = JSON.stringify(settings);
    for (const secret of [webhookSecret, platform.key]) expect(text).not.toContain(secret);
  });

  it('needs the role admin in the first workspace, also when another one has its name', async () => {
    const viewer = await platform.call('POST', '/api-key', { json: { role: 'viewer' }, headers: first });
    expect((await read(first, (viewer.body as { key: string }).key)).status).toBe(403);
    for (const display_name of ['default', 'theirs']) {
      const made = await platform.call('POST', '/workspaces', { json: { display_name }, headers: first });
      const { status, body } = await read({ 'x-tenant-id': (made.body as Workspace).id });
      expect({ status, body }).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('administrators of the workspace default') },
      });
    }
    expect((await read({}, 'svc_sk_unknown')).status).toBe(401);
  });
});

describe('GET /server/workers', () => {
  let platform: PlatformServer;
  beforeAll(async () => {
    platform = await startPlatform({ executors: '1', jobsMax: 7 }, { executors: 'started' });
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  const read = (workspace: string) =>
    platform.call('GET', '/server/workers', { headers: { 'x-tenant-id': workspace } });

  it('has the processes of the last day: live, draining, stopped and silent ones', async () => {
    await eventually(async () => {
      const { status, body } = await read(platform.workspace_id);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: [{ state: 'live', slots: 7, running: 0, blocked_executors: 0 }],
      });
    });
    await platform.server.database
      .script(`insert into workers (worker_id, name, slots, running, blocked_executors, draining, connections, graphs, seen_at) values
      (gen_random_uuid(), 'draining', 5, 1, 3, true, 9, '{}', now() - interval '1 second'),
      (gen_random_uuid(), 'left', 0, 0, 0, true, 0, '{}', now() - interval '1 hour'),
      (gen_random_uuid(), 'silent', 5, 2, 0, false, 9, '{}', now() - interval '2 hours'),
      (gen_random_uuid(), 'forgotten', 5, 2, 0, false, 9, '{}', now() - interval '25 hours')`);
    const { body } = await read(platform.workspace_id);
    const others = (body as ServerWorker[]).slice(1);
    expect(others.map(({ name, state }) => [name, state])).toEqual(
      ['draining', 'left', 'silent'].map((state) => [state, state]),
    );
    expect(others.map(({ blocked_executors }) => blocked_executors)).toEqual([3, 0, 0]);
  });

  it('is for administrators of the first workspace only', async () => {
    const headers = { 'x-tenant-id': platform.workspace_id };
    const made = await platform.call('POST', '/workspaces', { json: { display_name: 'theirs' }, headers });
    expect((await read((made.body as Workspace).id)).status).toBe(403);
  });
});

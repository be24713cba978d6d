// The settings in force, which only those who operate the server may see.
import type { ServerSetting, Workspace } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingKeys } from '../../src/config/settings/definitions.ts';
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

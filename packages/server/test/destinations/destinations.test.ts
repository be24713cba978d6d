// Destinations of a workspace, in a real S3 and in folders.
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Destination, NewApiKey, Probe, Workspace } from '@svc/contract';
import { asTenant } from '../../src/storage/postgres/tenant.ts';
import { startPlatform, type PlatformServer } from '../platform/platform-server.ts';
import type { Keys } from '../s3/ceph.ts';
import { describeS3, openGateway } from '../s3/gateway.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const path = '/bulk-exports/destinations';
const credentialsOf = ({ accessKeyId, secretAccessKey }: Keys) => ({
  access_key_id: accessKeyId,
  secret_access_key: secretAccessKey,
});

describeS3('a destination in a bucket', () => {
  const gateway = fixture(() => openGateway());
  let platform: PlatformServer;
  let bucket: string;
  beforeAll(async () => {
    platform = await startPlatform({ egressAllow: new URL(gateway.endpoint).host });
    bucket = await gateway.createBucket();
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
  });

  /** A key that reaches several workspaces has to name one. */
  const send: PlatformServer['call'] = (method, where, options = {}) =>
    platform.call(method, where, { headers: { 'x-tenant-id': platform.workspace_id }, ...options });
  const body = (config: object = {}, keys: Keys = gateway.keys) => ({
    display_name: "Somebody's bucket",
    config: { bucket_name: bucket, prefix: 'exports', endpoint_url: gateway.endpoint, ...config },
    credentials: credentialsOf(keys),
  });
  const create = async (json: object = body()): Promise<Destination> => {
    const made = await send('POST', path, { json });
    expect(made).toMatchObject({ status: 200 });
    return made.body as Destination;
  };
  const refusal = async (json: object): Promise<string> => {
    const { status, body } = await send('POST', path, { json });
    expect(status).toBe(400);
    return (body as { detail: string }).detail;
  };

  it('is created when a file could be written, and that file is deleted', async () => {
    const made = await create();
    expect(made).toEqual({
      id: expect.any(String),
      tenant_id: platform.workspace_id,
      destination_type: 's3',
      display_name: "Somebody's bucket",
      config: { bucket_name: bucket, prefix: 'exports', endpoint_url: gateway.endpoint },
      credentials_keys: ['access_key_id', 'secret_access_key'],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await send('GET', `${path}/${made.id}`)).toMatchObject({ status: 200, body: made });
    const { body } = await send('GET', path);
    expect((body as Destination[])[0]).toEqual(made);
    expect(await gateway.objects(bucket)).toEqual([]);
  });

  it('reports the result of each step when it is tested', async () => {
    const { id } = await create();
    const { status, body } = await send('POST', `${path}/${id}/test`);
    const step = (name: string, required: boolean) => ({
      name,
      ok: true,
      required,
      code: null,
      message: null,
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ok: true,
        notes: [],
        steps: [
          step('address', true),
          step('put', true),
          step('head', false),
          step('put_if_none_match', false),
          step('delete', false),
        ],
      },
    });
  });

  it('is accepted when files may be written and nothing else', async () => {
    const user = await gateway.createUser();
    const own = await gateway.createBucket();
    await gateway.allowOnly(user, own, ['s3:PutObject'], { prefix: 'exports/' });
    const { id } = await create(body({ bucket_name: own }, user.keys));
    const { body: probe } = await send('POST', `${path}/${id}/test`);
    const { ok, steps, notes } = probe as Probe;
    expect(ok).toBe(true);
    const can = Object.fromEntries(steps.map((step) => [step.name, step.ok]));
    expect(can).toMatchObject({ put: true, head: false, delete: false });
    expect(notes.join()).toMatch(/may not have been deleted: .*tmp\/svc-probe-/);
    expect(await refusal(body({ bucket_name: own, prefix: 'elsewhere' }, user.keys))).toMatch(
      /: AccessDenied: /,
    );
  });

  it.each<[string, RegExp, () => object]>([
    [
      'a wrong secret',
      /SignatureDoesNotMatch: .*secret_access_key/,
      () => body({}, { ...gateway.keys, secretAccessKey: 'wrong' }),
    ],
    [
      'an unknown key',
      /InvalidAccessKeyId: .*access key id/,
      () => body({}, { ...gateway.keys, accessKeyId: 'UNKNOWN' }),
    ],
    ['a bucket that does not exist', /NoSuchBucket: .*bucket_name/, () => body({ bucket_name: 'not-there' })],
    [
      'a storage class that is not there',
      /InvalidArgument: .*s3_additional_kwargs/,
      () => body({ s3_additional_kwargs: { StorageClass: 'NO_SUCH' } }),
    ],
  ])('is rejected with %s', async (_, message, json) => {
    const before = await send('GET', path);
    const detail = await refusal(json());
    expect(detail).toMatch(/^Failed to validate S3 destination: /);
    expect(detail).toMatch(message);
    expect((await send('GET', path)).body).toEqual(before.body);
  });

  it('sends its configured options with every upload', async () => {
    const kwargs = {
      Metadata: { team: 'blue' },
      Tagging: 'a=b',
      ChecksumAlgorithm: 'SHA256',
      ACL: 'private',
    };
    await create(body({ s3_additional_kwargs: kwargs, config_kwargs_s3: { addressing_style: 'path' } }));
  });

  it('accepts new credentials when they work, and keeps the old ones when not', async () => {
    const user = await gateway.createUser();
    const own = await gateway.createBucket();
    await gateway.allowOnly(user, own, ['s3:PutObject', 's3:GetObject', 's3:DeleteObject']);
    const { id } = await create(body({ bucket_name: own }, user.keys));
    const change = (json: object) => send('PATCH', `${path}/${id}`, { json });
    const second = await gateway.addKeys(user);
    const wrong = { ...credentialsOf(second.keys), secret_access_key: 'wrong' };
    const refused = await change({ credentials: wrong });
    expect(refused).toMatchObject({ status: 400 });
    expect((refused.body as { detail: string }).detail).toMatch(/SignatureDoesNotMatch/);
    expect((await send('POST', `${path}/${id}/test`)).body).toMatchObject({ ok: true });
    expect(await change({ credentials: credentialsOf(second.keys) })).toMatchObject({ status: 200 });
    await gateway.revokeKeys(user);
    expect((await send('POST', `${path}/${id}/test`)).body).toMatchObject({ ok: true });
    await gateway.revokeKeys(second);
    const { body: probe } = await send('POST', `${path}/${id}/test`);
    expect(probe).toMatchObject({
      ok: false,
      steps: [{ ok: true }, { name: 'put', ok: false, code: 'InvalidAccessKeyId' }],
    });
  });

  it.each([
    ['nothing', {}],
    [
      'both',
      {
        credentials: { access_key_id: 'a', secret_access_key: 'b' },
        aws_role_arn: 'arn:aws:iam::123456789012:role/x',
      },
    ],
    ['a config', { config: { bucket_name: 'other' } }],
    ['a name', { display_name: 'other' }],
    ['a role, which this server does not allow', { aws_role_arn: 'arn:aws:iam::123456789012:role/x' }],
  ])('cannot be changed with %s', async (_, json) => {
    const { id } = await create();
    expect(await send('PATCH', `${path}/${id}`, { json })).toMatchObject({ status: 422 });
  });

  it('is deleted when no export refers to it', async () => {
    const { id } = await create();
    const { id: project } = (await send('POST', '/sessions', { json: { name: randomUUID() } })).body as {
      id: string;
    };
    await platform.server.database.query(
      {
        name: 'test_export',
        text: `insert into exports (tenant_id, id, destination_id, session_id, window_start, window_end, format_version, layout_version, compression, status)
          values ($1, $2, $3, $4, now() - interval '1 day', now(), 'v1', 2, 'none', 'COMPLETED')`,
      },
      [platform.workspace_id, randomUUID(), id, project],
    );
    expect(await send('DELETE', `${path}/${id}`)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect(await send('GET', `${path}/${id}`)).toMatchObject({ status: 200 });
    await platform.server.database.query({ name: 'test_no_export', text: 'delete from exports' }, []);
    expect(await send('DELETE', `${path}/${id}`)).toMatchObject({ status: 200, body: { id } });
    for (const method of ['GET', 'DELETE'])
      expect(await send(method, `${path}/${id}`)).toMatchObject({ status: 404 });
  });

  it('is not found by another workspace', async () => {
    const { id } = await create();
    const { body: workspace } = await send('POST', '/workspaces', {
      json: { display_name: 'theirs' },
    });
    const headers = { 'x-tenant-id': (workspace as Workspace).id };
    const theirs = ((await send('POST', '/api-key', { json: { role: 'admin' }, headers })).body as NewApiKey)
      .key;
    const credentials = credentialsOf(gateway.keys);
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['PATCH', '', { credentials }],
      ['DELETE', ''],
      ['POST', '/test'],
    ];
    for (const [method, rest, json] of calls) {
      const answer = async (of: string) => {
        const { status, body } = await send(method, `${path}/${of}${rest}`, {
          json,
          key: theirs,
          headers: {},
        });
        const text = JSON.stringify({ ...(body as object), request_id: undefined });
        return { status, text: text.replaceAll(of, 'ID') };
      };
      expect(await answer(id)).toEqual(await answer(randomUUID()));
      expect(await answer(id)).toMatchObject({ status: 404 });
    }
    expect((await send('GET', path, { key: theirs, headers: {} })).body).toEqual([]);
    expect(await send('GET', `${path}/${id}`)).toMatchObject({ status: 200 });
  });

  it('is hidden from statements that omit the workspace', async () => {
    await create();
    const count = { name: 'test_count', text: 'select count(*) from export_destinations' };
    const seen = (tenant: string) =>
      asTenant(platform.server.database, tenant, (tx) => tx.query<{ count: number }>(count, []));
    expect((await seen(platform.workspace_id))[0]?.count).toBeGreaterThan(0);
    expect((await seen(randomUUID()))[0]?.count).toBe(0);
  });

  it('cannot be opened with the sealed credentials of another destination', async () => {
    const [{ id: first }, { id: second }] = await Promise.all([create(), create()]);
    await platform.server.database.query(
      {
        name: 'test_move',
        text: `update export_destinations set credentials = (select credentials from export_destinations where id = $1) where id = $2`,
      },
      [first, second],
    );
    expect(await send('POST', `${path}/${second}/test`)).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
    expect(await send('POST', `${path}/${first}/test`)).toMatchObject({ status: 200 });
  });

  it('is readable with read permission, and created and changed with admin permission', async () => {
    const { id } = await create();
    const keyOf = async (role: string) =>
      ((await send('POST', '/api-key', { json: { role } })).body as NewApiKey).key;
    for (const role of ['viewer', 'editor']) {
      const key = await keyOf(role);
      expect(await send('GET', `${path}/${id}`, { key })).toMatchObject({ status: 200 });
      const json = body();
      for (const [method, rest] of [
        ['POST', ''],
        ['PATCH', `/${id}`],
        ['DELETE', `/${id}`],
        ['POST', `/${id}/test`],
      ] as const)
        expect(await send(method, path + rest, { key, json })).toMatchObject({ status: 403 });
    }
    expect(await send('GET', path, { key: await keyOf('ingest') })).toMatchObject({ status: 403 });
    expect(await send('GET', path, { key: null })).toMatchObject({ status: 401 });
  });
});

describe('a destination in a folder', () => {
  let platform: PlatformServer;
  const root = sharedFolder();
  beforeAll(async () => {
    platform = await startPlatform({ exportFileRoots: root });
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
  });
  const json = (where: string) => ({
    destination_type: 'file',
    display_name: 'Here',
    config: { path: where },
  });

  it('is created below a root, tested, and deleted', async () => {
    const { status, body } = await platform.call('POST', path, { json: json('a/b') });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { destination_type: 'file', config: { path: 'a/b' }, credentials_keys: [] },
    });
    const { id } = body as Destination;
    const { body: probe } = await platform.call('POST', `${path}/${id}/test`);
    expect((probe as Probe).steps.map(({ name, ok }) => [name, ok])).toEqual([
      ['address', true],
      ['put', true],
      ['head', true],
      ['put_if_none_match', true],
      ['delete', true],
    ]);
    expect(await readdir(join(root, 'a/b/tmp'))).toEqual([]);
    const credentials = { access_key_id: 'a', secret_access_key: 'b' };
    expect(await platform.call('PATCH', `${path}/${id}`, { json: { credentials } })).toMatchObject({
      status: 422,
    });
    expect(await platform.call('DELETE', `${path}/${id}`)).toMatchObject({ status: 200 });
  });

  it.each(['../a', 'a/../../b', '/etc', '/', 'a//b', 'a\0b', 'a\nb', '', './a'])(
    'is rejected at %j',
    async (where) => {
      const refused = await platform.call('POST', path, { json: json(where) });
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'config', 'path'] }] } });
    },
  );

  it('may be given by its absolute path', async () => {
    expect(await platform.call('POST', path, { json: json(join(root, 'c')) })).toMatchObject({ status: 200 });
  });
});

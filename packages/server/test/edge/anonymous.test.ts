import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/project/mistake.ts';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { startServer } from '../../src/app/server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createProject, runCli } from '../cli/cli-process.ts';
import { startTestServer, testProject } from '../server.ts';
import { send, type WireRequest } from './wire.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer({ executors: 'none' }));

describe('a server without authentication', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'svc.example.com'])('does not start on %s', async (host) => {
    // If it started nevertheless, it would find no database and leave nothing behind.
    const databaseUri = 'postgres://nobody@127.0.0.1:1/none';
    const settings = testSettings({ dataDir: '/nowhere', databaseUri, host });
    const start = startServer({
      settings,
      project: loadSvcJson(testProject, {}),
      logger: createLogger(settings.log),
    });
    await expect(start).rejects.toThrow(ConfigError);
    await expect(start).rejects.toThrow(
      /opens the server to the network.*\n.*SVC_API_KEY.*--allow-anonymous/,
    );
  });

  it('does not start with svc start either, which prints what to do', async () => {
    using project = createProject();
    const { code, stdout, stderr } = await runCli(['start', '--host', '0.0.0.0'], { cwd: project.dir }).exit;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/flag --host = "0\.0\.0\.0": opens the server to the network[^]*SVC_API_KEY/);
  });

  it.each([
    { allowAnonymous: 'true' },
    { apiKeys: 'a-key-of-thirty-two-letters-at-least' },
    { role: 'worker' },
  ])('starts on 0.0.0.0 with %j', async (settings) => {
    await using open = await startTestServer({
      executors: 'none',
      settings: { host: '0.0.0.0', ...settings },
    });
    const request = { headers: [['host', 'svc.example.com']] as const };
    expect((await send({ url: open.url.replace('0.0.0.0', '127.0.0.1') }, request)).status).toBe(200);
  });

  it.each([
    ['127.0.0.1:2024', 200],
    ['localhost', 200],
    ['LocalHost:80', 200],
    ['[::1]:2024', 200],
    ['[::1]', 200],
    ['evil.example', 421],
    ['evil.example:2024', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.nip.io', 421],
    ['127.0.0.2', 421],
    ['localhost.', 421],
    ['[::2]', 421],
    ['::1', 421],
    ['', 421],
  ])('answers Host %j with %i', async (host, status) => {
    const answer = await send(server, { path: '/info', headers: [['host', host]] });
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'misdirected',
      message: expect.stringMatching(/accepts only the host names localhost.*SVC_API_KEY.*--allow-anonymous/),
    });
  });

  it('returns 421 under another name even for unknown paths', async () => {
    const headers = [['host', 'evil.example']] as const;
    expect((await send(server, { path: '/nothing', headers })).status).toBe(421);
    expect((await send(server, { method: 'OPTIONS', path: '/threads', headers })).status).toBe(421);
  });
});

const json = ['content-type', 'application/json'] as const;
const own = (): string => new URL(server.url).host;

describe('a web page', () => {
  it.each([
    ['of another site', [['origin', 'https://evil.example']]],
    ['of another port', [['origin', 'http://127.0.0.1:1']]],
    ['of no origin', [['origin', 'null']]],
    ['that hides its origin', [['sec-fetch-site', 'cross-site']]],
    ['of the same site that hides its origin', [['sec-fetch-site', 'same-site']]],
    [
      'of another site, as browsers send it',
      [
        ['origin', 'https://evil.example'],
        ['sec-fetch-site', 'cross-site'],
      ],
    ],
  ] as const)('%s cannot change anything', async (_, headers) => {
    const before = await server.call('POST', '/threads/count', {});
    // A POST without a body is sent by browsers without a preflight.
    const refused = await send(server, { method: 'POST', path: '/threads', headers });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([403, { code: 'forbidden' }]);
    const typed = await send(server, {
      method: 'POST',
      path: '/threads',
      headers: [...headers, json],
      body: '{}',
    });
    expect(typed.status).toBe(403);
    expect((await send(server, { method: 'DELETE', path: '/store/items', headers })).status).toBe(403);
    expect(await server.call('POST', '/threads/count', {})).toMatchObject({ body: before.body });
  });

  it('of another site may read no more than CORS allows', async () => {
    const read = await send(server, { path: '/info', headers: [['origin', 'https://evil.example']] });
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, undefined]);
  });

  it.each<[string, () => NonNullable<WireRequest['headers']>]>([
    ['its own', () => [['origin', `http://${own()}`]]],
    [
      'its own, as its browser reports',
      () => [
        ['origin', 'https://front.example'],
        ['sec-fetch-site', 'same-origin'],
      ],
    ],
    ['none, being no page', () => []],
  ])('of an origin that is %s may change things', async (_, headers) => {
    const request = { method: 'POST', path: '/threads', headers: [...headers(), json], body: '{}' };
    expect((await send(server, request)).status).toBe(200);
  });

  it('cannot change anything with --allow-anonymous either', async () => {
    await using open = await startTestServer({ executors: 'none', settings: { allowAnonymous: 'true' } });
    const headers = [['origin', 'https://evil.example']] as const;
    expect((await send(open, { method: 'POST', path: '/threads', headers })).status).toBe(403);
    const named = [['host', 'svc.example.com'], ['origin', 'https://svc.example.com'], json] as const;
    expect((await send(open, { method: 'POST', path: '/threads', headers: named, body: '{}' })).status).toBe(
      200,
    );
  });
});

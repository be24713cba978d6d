// Caddy and nginx with the files of deploy/proxy in front of a server: streams, long waits, WebSockets, large bodies, metrics.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createClient } from '../../../packages/sdk/src/index.ts';
import { type Owned, owning } from '../../../packages/server/src/app/owned.ts';
import { eventually } from '../../../packages/server/test/eventually.ts';
import { serveHttp } from '../../../packages/server/test/serve-http.ts';
import { startTestServer, type TestServer } from '../../../packages/server/test/server.ts';
import { freePort } from '../../../packages/server/test/faults/free-port.ts';
import { output } from '../programs.ts';
import { itWithPrograms } from '../with-programs.ts';

const fileOf = (name: string): string => join(import.meta.dirname, '../../proxy', name);

interface Proxy extends AsyncDisposable {
  url: string;
}

const startProxy = (
  write: (folder: string, port: number) => Promise<{ command: string[]; env?: Record<string, string> }>,
): Promise<Proxy> =>
  owning(async (owned: Owned) => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-proxy-'));
    owned.keep({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) });
    const port = await freePort();
    const { command, env } = await write(folder, port);
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'], HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (log += String(data)));
    const ended = once(child, 'exit');
    owned.keep({
      [Symbol.asyncDispose]: async () => {
        child.kill('SIGTERM');
        await ended;
      },
    });
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(log);
      expect((await fetch(`${url}/ready`)).status).toBe(200);
    });
    return { url };
  });

const caddy = (upstream: string): Promise<Proxy> =>
  startProxy((folder, port) =>
    Promise.resolve({
      command: ['caddy', 'run', '--config', fileOf('Caddyfile'), '--adapter', 'caddyfile'],
      env: {
        SVC_SITE: `http://127.0.0.1:${port}`,
        SVC_UPSTREAM: new URL(upstream).host,
        CADDY_ADMIN: `unix/${join(folder, 'admin')}`,
        XDG_DATA_HOME: folder,
      },
    }),
  );

/** The file with another address, and without TLS. */
const nginxConfig = async (folder: string, listen: string, upstream: string): Promise<string> => {
  const text = await readFile(fileOf('nginx.conf'), 'utf8');
  const site = text
    .replace('listen 443 ssl http2;', `listen ${listen};`)
    .replace('server 127.0.0.1:2024', `server ${upstream}`)
    .replaceAll('/etc/nginx/certificates', folder)
    .replaceAll(listen.includes('ssl') ? /$^/gm : /^ *ssl_.*$/gm, '');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const file = join(folder, 'nginx.conf');
  const main = `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}`;
  await writeFile(file, `${main}\nhttp { access_log off; ${temporary.join(' ')}\n${site} }\n`);
  return file;
};

const nginx = (upstream: string): Promise<Proxy> =>
  startProxy(async (folder, port) => ({
    command: [
      'nginx',
      '-e',
      'stderr',
      '-c',
      await nginxConfig(folder, `127.0.0.1:${port}`, new URL(upstream).host),
    ],
  }));

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ settings: { heartbeatMs: 100 } });
});
afterAll(() => server?.[Symbol.asyncDispose]());

describe.each([
  { name: 'caddy' as const, start: caddy },
  { name: 'nginx' as const, start: nginx },
])('$name', ({ name, start }) => {
  itWithPrograms([name], 'sends events and heartbeats of a stream on at once', async () => {
    await using proxy = await start(server.url);
    const response = await fetch(`${proxy.url}/runs/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'barrier', input: {}, stream_mode: 'values' }),
    });
    const runId = /runs\/([0-9a-f-]{36})/.exec(response.headers.get('content-location') ?? '')?.[1];
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += value;
      }
    };
    // The run waits at its barrier until both have arrived.
    await readUntil('event: metadata');
    await readUntil(': heartbeat');
    const client = createClient({ apiUrl: proxy.url });
    await client.store.put(['barriers'], String(runId), { open: true });
    await readUntil(`"log":["${runId}"]`);
  });

  itWithPrograms([name], 'cancels a run whose client has left the stream', async () => {
    await using proxy = await start(server.url);
    const client = createClient({ apiUrl: proxy.url });
    const { thread_id } = await client.threads.create();
    const abort = new AbortController();
    const response = await fetch(`${proxy.url}/threads/${thread_id}/runs/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'barrier', input: {}, on_disconnect: 'cancel' }),
      signal: abort.signal,
    });
    await response.body!.getReader().read();
    abort.abort();
    await eventually(async () =>
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'interrupted' }]),
    );
  });

  itWithPrograms(
    [name],
    'passes a body of 15 MB on, which the server refuses, and hides the metrics',
    async () => {
      await using proxy = await start(server.url);
      const client = createClient({ apiUrl: proxy.url });
      const big = 'x'.repeat(15 * 1024 * 1024);
      await expect(client.store.put(['large'], name, { big })).rejects.toThrow('413: The value has 157');
      expect((await fetch(`${proxy.url}/metrics`)).status).toBe(404);
      expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
    },
  );
});

itWithPrograms(
  ['caddy'],
  'Caddy sends requests to a server that answers its checks of /ready with 503',
  async () => {
    let checks = 0;
    await using upstream = await serveHttp((request, response) => {
      const isCheck = request.headers['user-agent']?.startsWith('Go-http-client') === true;
      if (isCheck) checks++;
      response.writeHead(isCheck && request.url === '/ready' ? 503 : 200).end('{}');
    });
    await using proxy = await caddy(upstream.url);
    await eventually(() => Promise.resolve(expect(checks).toBeGreaterThan(1)));
    expect((await fetch(`${proxy.url}/threads`, { method: 'POST', body: '{}' })).status).toBe(200);
  },
);

itWithPrograms(['nginx', 'openssl'], 'the file of nginx is valid with TLS', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nginx-'));
  try {
    const pair = ['-keyout', join(folder, 'agents.key'), '-out', join(folder, 'agents.pem')];
    output('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=agents.example.com',
      ...pair,
    ]);
    const file = await nginxConfig(folder, '443 ssl http2', '127.0.0.1:2024');
    output('nginx', ['-t', '-e', 'stderr', '-c', file]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

itWithPrograms(['caddy'], 'the file of Caddy is valid with TLS', async () => {
  // Caddy writes certificates of its own.
  const folder = await mkdtemp(join(tmpdir(), 'svc-caddy-'));
  try {
    const env = {
      SVC_SITE: 'agents.example.com',
      SVC_UPSTREAM: 'api:2024',
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    };
    output('caddy', ['validate', '--config', fileOf('Caddyfile'), '--adapter', 'caddyfile'], { env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

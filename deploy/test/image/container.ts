// Containers of a built image, without a container engine. As root on Linux, they are in namespaces like those of a container.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient, type Client } from '../../../packages/sdk/src/index.ts';
import type { Owned } from '../../../packages/server/src/app/owned.ts';
import type { TestDatabase } from '../../../packages/server/test/database.ts';
import { freePort } from '../../../packages/server/test/faults/free-port.ts';
import { openProxy } from '../../../packages/server/test/faults/tcp-proxy.ts';
import type { BuiltImage } from './dockerfile-steps.ts';
import { canUseNamespaces, makeWritable, pidOf, spawnInNamespace } from './namespace.ts';

const run = promisify(execFile);
const apiKey = '0123456789abcdef0123456789abcdef';

export const isIsolated = canUseNamespaces();

export interface ProcessStatus {
  pid: string;
  uid: string;
  capabilities: string;
  root: string;
}

export interface Container {
  client: Client;
  /** The output of the health check. Throws when it fails. */
  health(): Promise<string>;
  /** Facts of the process, from /proc. */
  status(): Promise<ProcessStatus>;
  /** Returns the exit code. */
  stop(): Promise<unknown>;
}

/** The URI of the database for the user of the image, who may not open the folder of its socket. */
export const reachable = async ({ options: { connection } }: TestDatabase, owned: Owned): Promise<string> => {
  const { host = '', port = 5432, user, database: name } = connection;
  const proxy = owned.keep(
    await openProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }),
  );
  return `postgresql://${user}@127.0.0.1:${proxy.port}/${name}`;
};

/** What the image starts, with the variables that a deployment sets. `owned` ends it. */
export const startContainer = async (
  image: BuiltImage,
  variables: Record<string, string>,
  owned: Owned,
): Promise<Container> => {
  const port = await freePort();
  // Each container has a volume of its own.
  const own = await mkdtemp(join(image.root, 'container-'));
  await chmod(own, 0o755);
  const writable = await makeWritable(own, image.user);
  const [program = '', ...args] = [...image.entrypoint, ...image.command];
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...image.env,
    SVC_API_KEY: apiKey,
    SVC_PORT: String(port),
    SVC_DATA_DIR: writable.data,
    ...variables,
  };
  const cwd = join(image.root, image.workdir);
  const child = isIsolated
    ? spawnInNamespace([program, ...args], { owner: image.user, cwd, env, writable })
    : spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  const ended = once(child, 'exit');
  owned.keep({
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  });
  const health = async (): Promise<string> => {
    if (child.exitCode !== null) throw new Error(`the server has ended: ${output}`);
    const [check = '', ...words] = image.health;
    return (await run(check, words, { cwd, env })).stdout;
  };
  return {
    client: createClient({ apiUrl: `http://127.0.0.1:${port}`, apiKey }),
    health,
    async status() {
      const proc = `/proc/${pidOf(child)}`;
      const text = await readFile(`${proc}/status`, 'utf8');
      const fact = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(text)?.[1]?.split('\t') ?? [];
      const mounts = (await readFile(`${proc}/mountinfo`, 'utf8')).split('\n').map((line) => line.split(' '));
      return {
        pid: fact('NSpid').at(-1) ?? '',
        uid: fact('Uid')[0] ?? '',
        capabilities: fact('CapEff')[0] ?? '',
        root: mounts.find((mount) => mount[4] === '/')?.[5]?.split(',')[0] ?? '',
      };
    },
    async stop(): Promise<unknown> {
      process.kill(isIsolated ? pidOf(child) : child.pid!, 'SIGTERM');
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
};

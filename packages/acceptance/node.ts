// A server process of the project: one node. Several may use one database.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../server/test/eventually.ts';
import { svcCommand } from '../server/test/svc-command.ts';

const configFile = (name: string): string => fileURLToPath(new URL(`./project/${name}`, import.meta.url));

export interface Node extends AsyncDisposable {
  url: string;
  /** kill -9 of the server and its executors. The database goes on. */
  kill(): Promise<void>;
}

export interface NodeOptions {
  databaseUri: string;
  /** The folder of the gates at which graphs wait. */
  gates: string;
  platformKey: string;
  /** A config file of the project, or that of another project. */
  config?: 'svc.json' | 'generative-ui.json' | 'private-ui.json' | '../agents/svc.json';
  role?: 'all' | 'api' | 'worker';
  /** Messages of models get other ids when their runs are traced. */
  tracing?: 'on' | 'off';
  /** That of a node which was killed, for clients to connect again. */
  port?: string;
}

const killGroup = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
};

export const startNode = async ({
  databaseUri,
  gates,
  platformKey,
  config = 'svc.json',
  role = 'all',
  tracing = 'on',
  port = '0',
}: NodeOptions): Promise<Node> => {
  const args = ['start', '--config', configFile(config), '--role', role, '--port', port, '--executors', '1'];
  const child = spawn(process.execPath, [svcCommand, ...args], {
    detached: true, // a process group of its own, so that all of it can be killed at once
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DATABASE_URI: databaseUri,
      GATES: gates,
      SVC_BOOTSTRAP_API_KEY: platformKey,
      SVC_CORS_ORIGINS: '*',
      SVC_RATE_LIMIT: 'none',
      SVC_TRACING: tracing,
      SVC_LOG_LEVEL: 'error',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const kill = (): Promise<void> => killGroup(child);
  try {
    const url = await eventually(() => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      if (found === undefined) throw new Error(`svc did not start: ${output}`);
      return found;
    });
    return { url, kill, [Symbol.asyncDispose]: kill };
  } catch (error) {
    await kill();
    throw error;
  }
};

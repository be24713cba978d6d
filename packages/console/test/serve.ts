// A server process with the graphs of the tests, and a database of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scaled } from '../../server/test/speed.ts';
import { svcCommand } from '../../server/test/svc-command.ts';

/** The first API key of the workspace `default`. */
export const traceKey = `svc-console-tests-${'k'.repeat(32)}`;

export interface ServerProcess extends AsyncDisposable {
  url: string;
  /** Ends the process. Its data stays, for `start()`. */
  stop: () => Promise<void>;
  /** Starts the process again, at the same address. */
  start: () => Promise<void>;
}

export interface ServerOptions {
  /** The folder of `svc.json`, from this one; the test project when absent. */
  project?: string;
  env?: Record<string, string>;
}

export const startServerProcess = async (options: ServerOptions = {}): Promise<ServerProcess> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-console-'));
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  let running = await launch(dataDir, '0', options).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const { url } = running;
  return {
    url,
    stop: () => running.stop(),
    start: async () => {
      running = await launch(dataDir, new URL(url).port, options);
    },
    async [Symbol.asyncDispose]() {
      await running.stop();
      await remove();
    },
  };
};

const untilReady = async (url: string, signal: AbortSignal): Promise<void> => {
  for (;;) {
    const response = await fetch(`${url}/ready`, { signal });
    await response.body?.cancel();
    if (response.status !== 503) return;
    await sleep(20, undefined, { signal });
  }
};

const launch = async (
  dataDir: string,
  port: string,
  { project = 'project', env = {} }: ServerOptions,
): Promise<{ url: string; stop: () => Promise<void> }> => {
  const config = resolve(import.meta.dirname, project, 'svc.json');
  const args = ['start', '--config', config, '--port', port, '--data-dir', dataDir, '--executors', '1'];
  const child = spawn(process.execPath, [svcCommand, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      SVC_LOG_LEVEL: 'error',
      SVC_RATE_LIMIT: 'none',
      SVC_TRACING: 'on',
      SVC_EGRESS_ALLOW: '127.0.0.1', // webhooks of tests
      SVC_BOOTSTRAP_API_KEY: traceKey,
      SVC_CONSOLE_VIEWER: 'off', // most tests of traces enter a key
      SVC_SHUTDOWN_GRACE: '1s', // a failed test leaves a run that does not end
      ...env,
    },
  });
  const ended = once(child, 'exit');
  let output = '';
  const signal = AbortSignal.timeout(scaled(60_000));
  const address = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
        if (found !== undefined) resolve(found);
      });
    child.once('exit', () => reject(new Error('the process has ended')));
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const url = await address;
    // Home reports a server that is not ready, and the browser logs the response with status 503.
    await untilReady(url, signal);
    return { url, stop };
  } catch (cause) {
    await stop();
    throw new Error(`svc did not start: ${output}`, { cause });
  }
};

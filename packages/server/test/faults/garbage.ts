// Collects the garbage of other Node processes through their inspectors: when they collect by themselves depends on how fast they allocate.
import { once } from 'node:events';
import WebSocket from 'ws';
import { eventually } from '../eventually.ts';
import { freePort } from './free-port.ts';
import { memoryOf, signal } from './process-tree.ts';

/** A process that is started with `env`, whose inspector listens after the first measurement. */
export interface Inspected {
  port: number;
  env: { NODE_OPTIONS: string };
}

export const inspected = async (): Promise<Inspected> => {
  const port = await freePort();
  return { port, env: { NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}` } };
};

/** The resident memory in bytes, without garbage. */
export const memoryAtRest = async (pid: number, { port }: Inspected): Promise<number> => {
  signal(pid, 'SIGUSR1'); // starts the inspector
  const url = await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`);
    const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
    if (!target) throw new Error('The inspector has no target');
    return target.webSocketDebuggerUrl;
  });
  const socket = new WebSocket(url);
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
  await once(socket, 'message');
  socket.close();
  return memoryOf(pid);
};

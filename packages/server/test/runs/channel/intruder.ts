// A graph that does to its own process what libraries do, and some things that they do not.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { encodeFrame, channelFd } from '../../../src/jobs/process-channel.ts';

const State = Annotation.Root({ do: Annotation<string>, out: Annotation<unknown> });

const received: unknown[] = [];
const child = fileURLToPath(new URL('./child.mjs', import.meta.url));

/** Lists the open descriptors of a process with what they refer to (Linux). */
const listFiles = `
  const { readdirSync, readlinkSync } = require('node:fs');
  const links = readdirSync('/proc/self/fd').flatMap((fd) => {
    try { return [readlinkSync('/proc/self/fd/' + fd)]; } catch { return []; }
  });
  process.stdout.write(JSON.stringify(links));`;

const actions: Record<string, () => unknown> = {
  /** As libraries do that expect pm2 or a test runner as parent process. */
  report: () => {
    for (const message of ['ready', { hello: 1 }, null, { kind: 'ready' }]) process.send?.(message);
    return 'reported';
  },
  listen: () => {
    process.on('message', (message) => received.push(message));
    process.on('disconnect', () => received.push('disconnect'));
    return 'listening';
  },
  received: () => received,
  disconnect: () => {
    process.disconnect?.();
    return 'disconnected';
  },
  facts: () => ({
    send: typeof process.send,
    disconnect: typeof process.disconnect,
    channel: typeof process.channel,
    connected: process.connected ?? false,
    variable: process.env['NODE_CHANNEL_FD'] ?? null,
  }),
  /** Forks a child with an IPC channel of its own. */
  fork: async () => {
    const forked = fork(child);
    forked.send({ question: 'which?' });
    const [answer] = (await once(forked, 'message')) as [unknown];
    forked.disconnect();
    await once(forked, 'exit');
    return answer;
  },
  inherit: () => {
    const own = readlinkSync(`/proc/self/fd/${channelFd}`);
    const { stdout } = spawnSync(process.execPath, ['-e', listFiles], { encoding: 'utf8' });
    const files = readdirSync('/proc/self/fd').length;
    return {
      isSocket: own.startsWith('socket:'),
      files,
      inherited: (JSON.parse(stdout) as string[]).includes(own),
    };
  },
  /** Writes frames that are valid but contain no known message. */
  forge: () => {
    for (const message of ['ready', null, { hello: 1 }, { kind: 'done', run_id: 7 }, { kind: 'events' }])
      writeSync(channelFd, encodeFrame(message));
    return 'forged';
  },
  garble: () => {
    writeSync(channelFd, 'garbage that is no frame');
    return new Promise(() => undefined);
  },
  killParent: () => {
    process.kill(process.ppid, 'SIGKILL');
    return new Promise(() => undefined);
  },
};

export const intruder = new StateGraph(State)
  .addNode('act', async (state) => ({ out: await actions[state.do]?.() }))
  .addEdge(START, 'act')
  .compile();

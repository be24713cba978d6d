// The two servers that are compared, each with and without custom authentication. They serve the same folder.
import { join } from 'node:path';
import { owning } from '../../src/app/owned.ts';
import { startTestServer } from '../server.ts';
import { copyProject, installPeer, startPeer } from './peer/peer.ts';

interface Pair {
  here: string;
  there: string;
}

export interface Servers {
  open: Pair;
  auth: Pair;
}

export const startServers = (): Promise<Servers & AsyncDisposable> =>
  owning(async (owned) => {
    const peer = await installPeer();
    const { folder } = owned.keep(await copyProject(peer));
    const pair = async (config: string): Promise<Pair> => ({
      here: owned.keep(await startTestServer({ project: join(folder, config) })).url,
      there: owned.keep(await startPeer(peer, folder, config)).url,
    });
    return { open: await pair('langgraph.json'), auth: await pair('langgraph.auth.json') };
  });

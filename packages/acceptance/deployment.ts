// A database with any number of nodes on it, and the gates at which their graphs wait.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Owned, owning } from '../server/src/app/owned.ts';
import { testDatabase } from '../server/test/database.ts';
import { startNode, type Node, type NodeOptions } from './node.ts';

/** What clients send as their bearer token. */
export const tokens = { ann: 'token-of-ann', ben: 'token-of-ben' } as const;

export const bearer = (token: string = tokens.ann) => ({ authorization: `Bearer ${token}` });

/** A key of the platform API of every deployment. */
export const platformKey = 'a-platform-key-of-acceptance-tests';

export interface Deployment extends AsyncDisposable {
  start(options?: Pick<NodeOptions, 'config' | 'role' | 'tracing' | 'port'>): Promise<Node>;
  /** A gate that is closed. `count <name>` lets the agent wait at it. */
  gate(): { name: string; open(): Promise<void> };
}

export const openDeployment = async (): Promise<Deployment> => {
  const owned = new Owned();
  const database = owned.keep(await testDatabase());
  const gates = await mkdtemp(join(tmpdir(), 'svc-gates-'));
  owned.keep({ [Symbol.asyncDispose]: () => rm(gates, { recursive: true, force: true }) });
  return {
    async start(options) {
      return owned.keep(await startNode({ databaseUri: database.uri, gates, platformKey, ...options }));
    },
    gate() {
      const name = randomUUID();
      return { name, open: () => writeFile(join(gates, name), '') };
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
};

/** A deployment with one running node, and its address. */
export interface Server extends Pick<Deployment, 'gate'>, AsyncDisposable {
  url: string;
}

export const openServer = (): Promise<Server> =>
  owning(async (owned) => {
    const deployment = owned.keep(await openDeployment());
    const { url } = await deployment.start();
    return { url, gate: () => deployment.gate() };
  });

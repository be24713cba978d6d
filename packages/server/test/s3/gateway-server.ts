// Starts one gateway for a whole test run when the first test requests it. The guard process of the run owns it; test processes request its
// address over HTTP.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openCeph, type Ceph, type CephAccess } from './ceph.ts';

export interface GatewayServer extends AsyncDisposable {
  readonly url: string;
}

export const openGatewayServer = async (): Promise<GatewayServer> => {
  const closing = new AbortController();
  let starting: Promise<Ceph> | undefined;
  // A free port may be taken by the time a daemon binds it.
  const open = (): Promise<Ceph> =>
    openCeph({ signal: closing.signal }).catch((error: unknown) => {
      if (closing.signal.aborted) throw error;
      return openCeph({ signal: closing.signal });
    });
  const server = createServer((_, response) => {
    starting ??= open();
    starting.then(
      ({ access }) => response.end(JSON.stringify(access)),
      (error: Error) => response.writeHead(503).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      closing.abort();
      server.close();
      server.closeAllConnections();
      const ceph = await starting?.catch(() => undefined); // the requesting tests got the error
      await ceph?.[Symbol.asyncDispose]();
    },
  };
};

/** Resolves with the gateway's address and keys when it serves; rejects with the reason when it cannot start. */
export const requestGateway = async (url: string): Promise<CephAccess> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as CephAccess;
};

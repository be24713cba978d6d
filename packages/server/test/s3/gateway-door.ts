// One gateway for a whole test run, started when the first test asks for it: the guard of the run keeps it, and every
// test process asks at the guard's door.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openCeph, type Ceph, type CephAccess } from './ceph.ts';

export interface GatewayDoor extends AsyncDisposable {
  readonly url: string;
}

export const openGatewayDoor = async (): Promise<GatewayDoor> => {
  const closing = new AbortController();
  let starting: Promise<Ceph> | undefined;
  // Ports that were free may be taken by the time the daemons bind them.
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
      const ceph = await starting?.catch(() => undefined); // whoever asked was told
      await ceph?.[Symbol.asyncDispose]();
    },
  };
};

/** Resolves when it serves; throws what kept it from starting. */
export const knock = async (url: string): Promise<CephAccess> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as CephAccess;
};

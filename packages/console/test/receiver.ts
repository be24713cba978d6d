// A server that receives the requests that svc sends in a test.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Receiver extends AsyncDisposable {
  url: string;
}

export const listen = async (handle: RequestListener): Promise<Receiver> => {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

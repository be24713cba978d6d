// An HTTP server of a test, on a free port of this machine.
import { once } from 'node:events';
import { createServer, type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer extends AsyncDisposable {
  url: string;
}

/** Disposal closes the server with all of its connections, and waits for the end of those that were upgraded. */
export const serveHttp = async (program: RequestListener | Server): Promise<HttpServer> => {
  const server = program instanceof Server ? program : createServer(program);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

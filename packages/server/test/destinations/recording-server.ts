// A third party's server: answers as the test decides, and records its requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordingServer extends AsyncDisposable {
  readonly port: number;
  readonly requests: { method: string; host: string; url: string; headers: IncomingMessage['headers'] }[];
  /** The number of connections so far. */
  connections(): number;
}

export const recordingServer = async (
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end(),
): Promise<RecordingServer> => {
  const requests: RecordingServer['requests'] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const { method = '', headers, url = '' } = request;
    requests.push({ method, host: headers.host ?? '', url, headers });
    request.resume();
    answer(request, response);
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

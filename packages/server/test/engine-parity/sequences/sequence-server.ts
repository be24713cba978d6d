// A server with the graphs of the cases.
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@svc/sdk';
import { startTestServer, type TestServer } from '../../server.ts';

export const startSequenceServer = async (): Promise<{ server: TestServer; client: Client }> => {
  const server = await startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) });
  return { server, client: createClient({ apiUrl: server.url }) };
};

// A server, and requests to its platform API with a key.
import { randomBytes, randomUUID } from 'node:crypto';
import type { TestSettings } from '../settings.ts';
import { startTestServer, type TestExecutors, type TestServer } from '../server.ts';

export interface PlatformServer extends AsyncDisposable {
  server: TestServer;
  apiUrl: string;
  key: string;
  workspace_id: string;
  call(
    method: string,
    path: string,
    options?: {
      json?: unknown;
      body?: Buffer | string;
      headers?: Record<string, string>;
      key?: string | null;
    },
  ): Promise<{ status: number; body: unknown; headers: Headers }>;
}

export const startPlatform = async (
  settings: TestSettings = {},
  {
    project,
    executors = 'none',
  }: {
    /** Its config file; the test project when absent. */
    project?: string;
    /** Tests of the platform API alone need no executor. */
    executors?: TestExecutors;
  } = {},
): Promise<PlatformServer> => {
  const key = `test-${randomBytes(16).toString('hex')}`;
  const workspace_id = randomUUID();
  const server = await startTestServer({
    settings: { bootstrapApiKey: key, bootstrapWorkspaceId: workspace_id, ...settings },
    ...(project === undefined ? {} : { project }),
    executors,
  });
  const apiUrl = `${server.url}/api/v1`;
  return {
    server,
    apiUrl,
    key,
    workspace_id,
    async call(method, path, options = {}) {
      const { json, headers } = options;
      const body = json === undefined ? options.body : JSON.stringify(json);
      const sentKey = options.key === undefined ? key : options.key;
      const response = await fetch((path.startsWith('/api/') ? server.url : apiUrl) + path, {
        method,
        headers: {
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(sentKey === null ? {} : { 'x-api-key': sentKey }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
        headers: response.headers,
      };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

// The client of the platform API: workspaces, keys, projects, traces and their exports.
import type {
  ApiKey,
  CallInput,
  keyRoutes,
  ModelPrice,
  modelPriceRoutes,
  NewApiKey,
  Project,
  projectRoutes,
  Workspace,
} from '@svc/contract';
import { DestinationsClient } from './destinations-client.ts';
import { ExportsClient } from './exports-client.ts';
import { TracesClient } from './traces-client.ts';
import { path, Transport, type CallOptions, type ClientOptions } from './transport.ts';

type NewKeyBody = NonNullable<CallInput<(typeof keyRoutes)['createKey']>['body']>;
type NewProjectBody = NonNullable<CallInput<(typeof projectRoutes)['createProject']>['body']>;
type NewPriceBody = NonNullable<CallInput<(typeof modelPriceRoutes)['createModelPrice']>['body']>;
type ProjectQuery = { name?: string; limit?: number; offset?: number };

export interface PlatformClientOptions extends ClientOptions {
  apiKey: string;
  /** Needed by a key that reaches several workspaces. */
  workspaceId?: string;
}

export interface PlatformClient {
  workspaces: {
    list(options?: CallOptions): Promise<Workspace[]>;
    create(displayName: string, options?: CallOptions): Promise<Workspace>;
  };
  keys: {
    list(options?: CallOptions): Promise<ApiKey[]>;
    /** The key itself is in the answer, this once. */
    create(body?: NewKeyBody, options?: CallOptions): Promise<NewApiKey>;
    revoke(keyId: string, options?: CallOptions): Promise<ApiKey>;
  };
  projects: {
    list(query?: ProjectQuery, options?: CallOptions): Promise<Project[]>;
    create(body: NewProjectBody, options?: CallOptions & { upsert?: boolean }): Promise<Project>;
    get(id: string, options?: CallOptions): Promise<Project>;
    /** With its runs and their feedback. */
    delete(id: string, options?: CallOptions): Promise<void>;
  };
  prices: {
    list(options?: CallOptions): Promise<ModelPrice[]>;
    create(body: NewPriceBody, options?: CallOptions): Promise<ModelPrice>;
    replace(id: string, body: NewPriceBody, options?: CallOptions): Promise<ModelPrice>;
    delete(id: string, options?: CallOptions): Promise<void>;
  };
  traces: TracesClient;
  exports: ExportsClient;
  /** Where exports go. */
  destinations: DestinationsClient;
}

/**
 * @example
 * const platform = createPlatformClient({ apiUrl: 'http://127.0.0.1:2024', apiKey: 'svc_sk_…' });
 * const { runs } = await platform.traces.query({ limit: 10 });
 */
export const createPlatformClient = ({ workspaceId, ...options }: PlatformClientOptions): PlatformClient => {
  const tenant = workspaceId === undefined ? {} : { 'x-tenant-id': workspaceId };
  const transport = new Transport({ ...options, headers: { ...tenant, ...options.headers } });
  return {
    workspaces: {
      list: (call) => transport.json({ method: 'GET', path: '/api/v1/workspaces', ...call }),
      create: (display_name, call) =>
        transport.json({ method: 'POST', path: '/api/v1/workspaces', body: { display_name }, ...call }),
    },
    keys: {
      list: (call) => transport.json({ method: 'GET', path: '/api/v1/api-key', ...call }),
      create: (body = {}, call) => transport.json({ method: 'POST', path: '/api/v1/api-key', body, ...call }),
      revoke: (id, call) => transport.json({ method: 'DELETE', path: path`/api/v1/api-key/${id}`, ...call }),
    },
    projects: {
      list: (query = {}, call) => transport.json({ method: 'GET', path: '/api/v1/sessions', query, ...call }),
      create: (body, { upsert, ...call } = {}) =>
        transport.json({ method: 'POST', path: '/api/v1/sessions', query: { upsert }, body, ...call }),
      get: (id, call) => transport.json({ method: 'GET', path: path`/api/v1/sessions/${id}`, ...call }),
      delete: (id, call) => transport.json({ method: 'DELETE', path: path`/api/v1/sessions/${id}`, ...call }),
    },
    prices: {
      list: (call) => transport.json({ method: 'GET', path: '/api/v1/model-prices', ...call }),
      create: (body, call) => transport.json({ method: 'POST', path: '/api/v1/model-prices', body, ...call }),
      replace: (id, body, call) =>
        transport.json({ method: 'PUT', path: path`/api/v1/model-prices/${id}`, body, ...call }),
      delete: (id, call) =>
        transport.json({ method: 'DELETE', path: path`/api/v1/model-prices/${id}`, ...call }),
    },
    traces: new TracesClient(transport),
    exports: new ExportsClient(transport),
    destinations: new DestinationsClient(transport),
  };
};

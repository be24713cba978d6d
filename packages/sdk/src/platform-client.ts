// The client of the platform API: workspaces, keys, projects, traces and their exports.
import type {
  ApiKey,
  ModelPrice,
  NewApiKey,
  Project,
  ServerSetting,
  ServerWorker,
  Workspace,
} from '@svc/contract';
import { DestinationsClient } from './destinations-client.ts';
import { ExportsClient } from './exports-client.ts';
import { TracesClient } from './traces-client.ts';
import { Transport, type Body, type CallOptions, type ClientOptions } from './transport.ts';

type ProjectQuery = { id?: string[]; name?: string; name_contains?: string; limit?: number; offset?: number };

export interface PlatformClientOptions extends ClientOptions {
  /** Not needed where `fetch` or `headers` authenticate. */
  apiKey?: string;
  /** Required when the key has access to several workspaces. */
  workspaceId?: string;
}

export interface PlatformClient {
  workspaces: {
    list(options?: CallOptions): Promise<Workspace[]>;
    create(displayName: string, options?: CallOptions): Promise<Workspace>;
  };
  keys: {
    list(options?: CallOptions): Promise<ApiKey[]>;
    /** The response is the only one that contains the key itself. */
    create(body?: Body<'createKey'>, options?: CallOptions): Promise<NewApiKey>;
    revoke(keyId: string, options?: CallOptions): Promise<ApiKey>;
  };
  projects: {
    list(query?: ProjectQuery, options?: CallOptions): Promise<Project[]>;
    create(body: Body<'createProject'>, options?: CallOptions & { upsert?: boolean }): Promise<Project>;
    get(id: string, options?: CallOptions): Promise<Project>;
    /** Fields that are absent or null stay as they are. */
    update(id: string, body: Body<'changeProject'>, options?: CallOptions): Promise<Project>;
    /** Deletes the project with its trace runs and their feedback. */
    delete(id: string, options?: CallOptions): Promise<void>;
  };
  prices: {
    list(options?: CallOptions): Promise<ModelPrice[]>;
    create(body: Body<'createModelPrice'>, options?: CallOptions): Promise<ModelPrice>;
    replace(id: string, body: Body<'replaceModelPrice'>, options?: CallOptions): Promise<ModelPrice>;
    delete(id: string, options?: CallOptions): Promise<void>;
  };
  server: {
    /** The settings in force, without secrets; for administrators of the workspace `default`. */
    settings(options?: CallOptions): Promise<ServerSetting[]>;
    /** The server processes of the last day; for administrators of the workspace `default`. */
    workers(options?: CallOptions): Promise<ServerWorker[]>;
  };
  traces: TracesClient;
  exports: ExportsClient;
  /** Buckets and folders to which exports are written. */
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
      list: (options) => transport.call('listWorkspaces', {}, options),
      create: (display_name, options) =>
        transport.call('createWorkspace', { body: { display_name } }, options),
    },
    keys: {
      list: (options) => transport.call('listKeys', {}, options),
      create: (body = {}, options) => transport.call('createKey', { body }, options),
      revoke: (key_id, options) => transport.call('revokeKey', { params: { key_id } }, options),
    },
    projects: {
      list: (query = {}, options) => transport.call('listProjects', { query }, options),
      create: (body, { upsert, ...options } = {}) =>
        transport.call('createProject', { query: { upsert }, body }, options),
      get: (session_id, options) => transport.call('getProject', { params: { session_id } }, options),
      update: (session_id, body, options) =>
        transport.call('changeProject', { params: { session_id }, body }, options),
      delete: (session_id, options) => transport.call('deleteProject', { params: { session_id } }, options),
    },
    prices: {
      list: (options) => transport.call('listModelPrices', {}, options),
      create: (body, options) => transport.call('createModelPrice', { body }, options),
      replace: (price_id, body, options) =>
        transport.call('replaceModelPrice', { params: { price_id }, body }, options),
      delete: (price_id, options) => transport.call('deleteModelPrice', { params: { price_id } }, options),
    },
    server: {
      settings: (options) => transport.call('listServerSettings', {}, options),
      workers: (options) => transport.call('listServerWorkers', {}, options),
    },
    traces: new TracesClient(transport),
    exports: new ExportsClient(transport),
    destinations: new DestinationsClient(transport),
  };
};

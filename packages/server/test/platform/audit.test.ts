// Every request that changes keys, workspaces or exports, or deletes something, is in the audit log.
import { randomBytes, randomUUID } from 'node:crypto';
import { deploymentRoutes, platformRoutes, type RouteShape } from '@svc/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/logger.ts';
import { startTestServer, type TestServer } from '../server.ts';

const key = `test-${randomBytes(16).toString('hex')}`;
const workspace_id = randomUUID();
const lines: Record<string, unknown>[] = [];
const audited = () => lines.filter(({ msg }) => msg === 'audit');

let server: TestServer;
beforeAll(async () => {
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  server = await startTestServer({
    executors: 'none',
    settings: { bootstrapApiKey: key, bootstrapWorkspaceId: workspace_id },
    // The level does not apply to the audit log.
    logger: createLogger({ level: 'error', format: 'json' }, { write }),
  });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => void lines.splice(0));

const call = (method: string, path: string, body?: object, sentKey = key) =>
  server.call(method, path, body, { 'x-api-key': sentKey, 'x-request-id': 'r1' });

describe('the audit log', () => {
  it('names the action, the key and its workspace, and the object, without secrets', async () => {
    const { body } = await call('POST', '/api/v1/api-key', { role: 'ingest', description: 'of a tracer' });
    const created = body as { id: string; key: string };
    await call('DELETE', `/api/v1/api-key/${created.id}`);
    const by = { key_id: expect.any(String) as string, workspace_id };
    expect(audited()).toMatchObject([
      { action: 'key.create', by, target: { id: created.id }, status: 200, request_id: 'r1' },
      { action: 'key.revoke', by, target: { key_id: created.id }, status: 200, request_id: 'r1' },
    ]);
    const text = JSON.stringify(lines);
    for (const secret of [key, created.key, 'of a tracer']) expect(text).not.toContain(secret);
  });

  it('has requests that were refused, unless their caller is unknown', async () => {
    const { body } = await call('POST', '/api/v1/api-key', { role: 'viewer' });
    await call('POST', '/api/v1/workspaces', { display_name: 'Mine' }, (body as { key: string }).key);
    await call('DELETE', `/api/v1/api-key/${randomUUID()}`);
    await call('POST', '/api/v1/workspaces', { display_name: 'Mine' }, `${key}x`);
    expect(audited().map(({ action, status }) => [action, status])).toEqual([
      ['key.create', 200],
      ['workspace.create', 403],
      ['key.revoke', 404],
    ]);
  });

  it('has deletions of the deployment API, and no reads', async () => {
    const { body } = await call('POST', '/threads', {});
    const { thread_id } = body as { thread_id: string };
    await call('GET', `/threads/${thread_id}`);
    await call('DELETE', `/threads/${thread_id}`);
    await call('DELETE', '/threads/no-id');
    expect(audited()).toMatchObject([
      { action: 'thread.delete', by: {}, target: { thread_id }, status: 204 },
      { action: 'thread.delete', target: {}, status: 422 },
    ]);
  });

  it('covers every route that deletes', () => {
    const routes: [string, RouteShape][] = Object.entries({ ...deploymentRoutes, ...platformRoutes });
    const missing = routes.filter(([, { method, audited: action }]) => method === 'delete' && !action);
    expect(missing.map(([name]) => name)).toEqual([]);
  });
});

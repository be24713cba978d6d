import { randomUUID } from 'node:crypto';
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { platformRoutes } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
let client: PlatformClient;
const called = new Set<string>();
beforeAll(async () => {
  platform = await startPlatform();
  client = createPlatformClient({
    apiUrl: platform.server.url,
    apiKey: platform.key,
    workspaceId: platform.workspace_id,
    fetch: (input, init) => {
      called.add(
        `${init?.method} ${new URL(input as string).pathname.replaceAll(/[0-9a-f-]{36}|picture|conversation/g, '*')}`,
      );
      return fetch(input, init);
    },
  });
});
afterAll(() => platform[Symbol.asyncDispose]());

describe('the client of the platform', () => {
  it('creates workspaces, keys and projects, and lists them', async () => {
    const workspace = await client.workspaces.create('Shop');
    expect((await client.workspaces.list()).map(({ id }) => id)).toContain(workspace.id);
    const made = await client.keys.create({
      role: 'ingest',
      workspaces: [workspace.id],
      description: 'tracing',
    });
    expect(made).toMatchObject({ role: 'ingest', workspaces: [workspace.id] });
    await client.keys.revoke(made.id);
    expect((await client.keys.list()).map(({ id }) => id)).not.toContain(made.id);

    const project = await client.projects.create({ name: 'p', extra: { metadata: { a: 1 } } });
    expect(await client.projects.get(project.id)).toEqual(project);
    expect(await client.projects.list({ name: 'p' })).toEqual([project]);
    expect(await client.projects.create({ name: 'p' }, { upsert: true })).toEqual(project);
    expect(await client.projects.list({ name_contains: 'p', id: [project.id] })).toEqual([project]);
    expect(await client.projects.update(project.id, { description: 'd' })).toEqual({
      ...project,
      description: 'd',
    });
    await expect(client.projects.create({ name: 'p' })).rejects.toMatchObject({ status: 409 });
    await client.projects.delete(project.id);
    expect(await client.projects.list({ name: 'p' })).toEqual([]);
  });

  it('sends runs and reads them back', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const start_time = '2026-11-20T00:00:00Z';
    await client.traces.create({ id, name: 'one', start_time });
    await client.traces.update(id, { end_time: '2026-11-20T00:00:01Z', outputs: { done: true } });
    await client.traces.send({
      post: [{ id: other, name: 'two', parent_run_id: id, start_time: '2026-11-20T00:00:00.5Z' }],
    });
    expect(await client.traces.get(id)).toMatchObject({ status: 'success', outputs: { done: true } });
    const { runs, cursors } = await client.traces.query({ trace: id });
    expect(runs.map((run) => run.id)).toEqual([other, id]);
    expect(cursors).toEqual({ next: null, prev: null });
    const span = { traceId: '5'.repeat(32), spanId: '7'.repeat(16), name: 'three', startTimeUnixNano: '1' };
    const resourceSpans = [{ scopeSpans: [{ spans: [span] }] }];
    expect(await client.traces.sendSpans({ resourceSpans }, { project: 'spans' })).toEqual({});
    expect(await client.traces.get('00000000-0000-0000-7777-777777777777')).toMatchObject({ name: 'three' });
    expect(await client.traces.attachments(id)).toEqual([]);
    await expect(client.traces.attachment(id, 'picture')).rejects.toMatchObject({ status: 404 });
  });

  it('reads trees, sums, threads and feedback', async () => {
    const id = randomUUID();
    const extra = { metadata: { thread_id: 'conversation' } };
    await client.traces.create({
      id,
      name: 'one',
      start_time: '2026-11-20T00:00:00Z',
      session_name: 'q',
      extra,
    });
    const [project] = await client.projects.list({ name: 'q' });
    const session_id = project?.id ?? '';
    expect(await client.traces.tree(id)).toMatchObject({ run_count: 1, runs: [{ id, child_runs: [] }] });
    expect(await client.traces.stats({ session: [session_id] })).toMatchObject({ run_count: 1 });
    const { points } = await client.traces.statsSeries({
      session: [session_id],
      start_time: '2020-01-01T00:00:00Z',
    });
    expect(points.reduce((sum, { run_count }) => sum + run_count, 0)).toBe(1);
    const { items } = await client.traces.threads({ project_id: session_id });
    expect(items).toMatchObject([{ thread_id: 'conversation', count: 1, notice: null }]);
    const { runs } = await client.traces.threadRuns('conversation', { session_id, is_root: true });
    expect(runs.map((run) => run.id)).toEqual([id]);
    const feedback = await client.traces.addFeedback({ run_id: id, key: 'kind', score: 1 });
    expect(await client.traces.feedback({ run: [id], key: ['kind'] })).toEqual([feedback]);
    expect(await client.traces.getFeedback(feedback.id)).toEqual(feedback);
    expect(await client.traces.updateFeedback(feedback.id, { comment: 'well' })).toMatchObject({
      score: 1,
      comment: 'well',
    });
    await client.traces.deleteFeedback(feedback.id);
    expect(await client.traces.feedback({ run: [id], key: ['kind'] })).toEqual([]);
  });

  it('creates and changes prices', async () => {
    const body = { name: 'x', match_pattern: '^x$', prompt_cost: '0.1', completion_cost: '0.2' };
    const price = await client.prices.create(body);
    const replaced = await client.prices.replace(price.id, { ...body, completion_cost: '0.3' });
    expect((await client.prices.list())[0]).toEqual(replaced);
    await client.prices.delete(price.id);
    expect((await client.prices.list()).map(({ id }) => id)).not.toContain(price.id);
  });

  it('reads the settings of the server', async () => {
    expect(await client.server.workers()).not.toEqual([]);
    const settings = await client.server.settings();
    expect(settings.find(({ key }) => key === 'port')).toMatchObject({ variable: 'SVC_PORT', value: '0' });
  });

  it('has a method for every route that is not only for tracers', () => {
    const forTracers = [
      '/api/v1/info',
      '/api/v1/settings',
      '/api/v1/runs/multipart',
      '/api/v1/runs/threads/*',
      '/api/v2/sessions',
      '/api/v1/sessions/resolutions',
      '/api/v2/runs/query',
      '/api/v2/runs/*',
      '/api/v2/traces/query',
      '/api/v2/traces/*/runs',
      '/api/v2/threads/*/traces',
      '/api/v2/threads/*/stats',
      '/api/v2/threads/stats',
      '/api/v1/runs/group',
      '/api/v1/feedback/tokens',
      '/api/v1/feedback/tokens/*',
      '/api/v1/attachments/*',
    ];
    // Exports have tests of their own.
    const others = '/api/v1/bulk-exports';
    const all = Object.values(platformRoutes).map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:\w+/g, '*')}`,
    );
    expect([...called].toSorted()).toEqual(
      all.filter((one) => !forTracers.some((path) => one.endsWith(path)) && !one.includes(others)).toSorted(),
    );
  });
});

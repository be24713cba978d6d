// Projects as the stock client lists, resolves and changes them.
import { randomUUID } from 'node:crypto';
import type { Project } from '@svc/contract';
import { AgentAddress, Client, RunTree } from 'langsmith';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { startPlatform } from './platform-server.ts';

const platform = fixture(() => startPlatform());
const client = fixture(() => new Client({ apiUrl: platform.apiUrl, apiKey: platform.key }));
const made: Project[] = [];

beforeAll(async () => {
  for (const projectName of ['shop east', 'shop west', 'desk'])
    made.push((await client.createProject({ projectName })) as unknown as Project);
});

const namesOf = async (projects: AsyncIterable<{ name?: string }>): Promise<unknown[]> => {
  const names: unknown[] = [];
  for await (const { name } of projects) names.push(name);
  return names;
};

describe('sessions.listV2', () => {
  it('pages through the projects by cursor, newest first', async () => {
    expect(await namesOf(client.sessions.listV2({ page_size: 2 }))).toEqual([
      'desk',
      'shop west',
      'shop east',
    ]);
    expect(await namesOf(client.sessions.listV2({ name_contains: 'shop', page_size: 1 }))).toEqual([
      'shop west',
      'shop east',
    ]);
    expect(await namesOf(client.sessions.listV2({ name: 'desk' }))).toEqual(['desk']);
    expect(await namesOf(client.sessions.listV2({ id: [made[0]?.id ?? '', randomUUID()] }))).toEqual([
      'shop east',
    ]);
    expect(await namesOf(client.sessions.listV2({ type: ['EXPERIMENT'] }))).toEqual([]);
    expect((await platform.call('GET', '/api/v2/sessions?filter=x')).status).toBe(422);
    expect((await platform.call('GET', '/api/v2/sessions?cursor=x')).status).toBe(422);
  });

  it('has the filters of listProjects', async () => {
    expect(await namesOf(client.listProjects({ nameContains: 'west' }))).toEqual(['shop west']);
    expect(await namesOf(client.listProjects({ projectIds: [made[2]?.id ?? ''] }))).toEqual(['desk']);
  });
});

describe('an address', () => {
  it('receives traces, and is resolved to their project', async () => {
    const tracer = new Client({ apiUrl: platform.apiUrl, apiKey: platform.key });
    const run = new RunTree({
      name: 'addressed',
      client: tracer,
      address: new AgentAddress('support', 'production'),
    });
    await run.end({});
    await run.postRun();
    await tracer.awaitPendingTraceBatches();
    const { session_id } = await client.sessions.resolve({
      kind: 'AGENT',
      id: 'support',
      environment: 'PRODUCTION',
    });
    expect(await client.runs.retrieveV2(run.id, { project_id: session_id, selects: ['NAME'] })).toEqual({
      id: run.id,
      name: 'addressed',
    });
    expect(await namesOf(client.sessions.listV2({ type: ['AGENT'] }))).toEqual([
      'lrn:agents/support/environments/production',
    ]);
    expect(await namesOf(client.sessions.listV2({ type: ['PROJECT'] }))).toHaveLength(3);
  });

  it('that received nothing is 404, and an experiment 501', async () => {
    const resolve = (query: Parameters<typeof client.sessions.resolve>[0]) => client.sessions.resolve(query);
    const unknown = resolve({ kind: 'AGENT', id: 'support', environment: 'STAGING' });
    await expect(unknown).rejects.toMatchObject({ status: 404 });
    await expect(resolve({ kind: 'EXPERIMENT', id: randomUUID() })).rejects.toMatchObject({ status: 501 });
    await expect(resolve({ kind: 'AGENT' })).rejects.toMatchObject({ status: 422 });
    const bad = { id: randomUUID(), name: 'x', start_time: Date.now(), address: 'lrn:experiments/x' };
    expect((await platform.call('POST', '/runs', { json: bad })).status).toBe(422);
  });
});

describe('updateProject', () => {
  it('changes the given fields, and traces by the old name begin a new project', async () => {
    const id = made[0]?.id ?? '';
    const send = (session_name: string) =>
      platform.call('POST', '/runs', {
        json: { id: randomUUID(), name: 'x', session_name, start_time: Date.now() },
      });
    await send('shop east');
    await client.updateProject(id, { name: 'shop north', metadata: { city: 'Bergen' } });
    const changed = await client.readProject({ projectId: id });
    expect(changed).toMatchObject({
      name: 'shop north',
      description: null,
      extra: { metadata: { city: 'Bergen' } },
    });
    await client.updateProject(id, { description: 'd' });
    expect(await client.readProject({ projectId: id })).toEqual({ ...changed, description: 'd' });
    await send('shop east');
    expect((await client.readProject({ projectName: 'shop east' })).id).not.toBe(id);
  });

  it('is refused for a name that exists, an unknown project, and a key that may not write', async () => {
    const [, west] = made;
    const path = `/sessions/${west?.id ?? ''}`;
    const status = async (given: string, json: object, key?: string): Promise<number> =>
      (await platform.call('PATCH', given, { json, ...(key === undefined ? {} : { key }) })).status;
    expect(await status(path, { name: 'desk' })).toBe(409);
    expect(await status(`/sessions/${randomUUID()}`, { name: 'desk' })).toBe(404);
    expect(await status(path, { end_time: '2026-11-20T00:00:00Z' })).toBe(422);
    const { body } = await platform.call('POST', '/api-key', { json: { role: 'viewer' } });
    expect(await status(path, { name: 'mine' }, (body as { key: string }).key)).toBe(403);
  });
});

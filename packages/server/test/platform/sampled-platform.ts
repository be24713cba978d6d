// A server, and valid requests of every route of its platform API, of which tests make invalid ones.
import { randomUUID } from 'node:crypto';
import { platformRoutes, type RouteShape } from '@svc/contract';
import { expect } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';

export const routes = Object.entries(platformRoutes) as [string, RouteShape][];
export const withBody = routes.filter(([, route]) => route.body);
export const uploads = routes.filter(([, route]) => route.upload);

const price = { name: 'p', match_pattern: '^p$', prompt_cost: '1', completion_cost: '1' };

/** Routes whose object does not exist. */
export const ofUnknown = [
  'replaceModelPrice',
  'changeFeedback',
  'changeDestination',
  'changeExport',
  'useFeedbackToken',
];

export interface Answer {
  status: number;
  text: string;
}

/** A rejection has a problem body in svc's format, and exposes no internals. */
export const expectProblem = ({ status, text }: Answer, statuses: number[], what: string): void => {
  expect(statuses, `${what}: ${status} ${text.slice(0, 300)}`).toContain(status);
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(Object.keys(problem).toSorted(), what).toEqual(['code', 'detail', 'message', 'request_id']);
  expect(text, what).not.toMatch(/node_modules|\bat \/|select .* from|\.ts:\d/);
};

export interface SampledPlatform {
  platform: PlatformServer;
  session_id: string;
  /** A valid body for every route that takes one. */
  samples: () => Record<string, Record<string, unknown>>;
  /** The path of a route, with these parameters or those of the sample objects, and with the query parameters that it requires. */
  pathOf: (name: string, route: RouteShape, values?: Record<string, string>) => string;
  send: (route: RouteShape, path: string, body?: unknown, type?: string | null) => Promise<Answer>;
  expectServing: () => Promise<void>;
}

export const startSampledPlatform = async (): Promise<SampledPlatform> => {
  const platform = await startPlatform({ bodyLimit: '200kb', ingestBytesMax: 204_800 });
  const run_id = randomUUID();
  const folder = () => ({ destination_type: 'file', display_name: 'd', config: { path: 'out' } });
  const span = () => ({
    bulk_export_destination_id: destination_id,
    session_id,
    start_time: '2026-11-01T00:00:00Z',
    end_time: '2026-11-02T00:00:00Z',
  });

  const samples = (): Record<string, Record<string, unknown>> => ({
    createWorkspace: { display_name: 'w' },
    createKey: {},
    createProject: { name: randomUUID() },
    getRunStats: {},
    getRunStatsSeries: {},
    queryTraceRuns: {},
    querySelectedRuns: { project_ids: [session_id] },
    queryTraces: { project_id: session_id },
    queryTraceThreads: { project_id: session_id },
    getThreadAggregates: { project_id: session_id, select: ['THREAD_COUNT'] },
    groupRuns: { session_id, group_by: 'conversation' },
    changeProject: { description: 'd' },
    createFeedbackToken: { run_id, feedback_key: 'k' },
    useFeedbackToken: { score: 1 },
    createModelPrice: price,
    replaceModelPrice: price,
    createFeedback: { run_id, key: 'k' },
    changeFeedback: { score: 1 },
    createDestination: folder(),
    changeDestination: { credentials: { access_key_id: 'a', secret_access_key: 'b' } },
    createExport: span(),
    validateExport: span(),
    changeExport: { status: 'Cancelled' },
  });
  const params = (): Record<string, string> => ({
    id: run_id,
    trace_id: run_id,
    session_id,
    name: 'file',
    thread_id: 'thread',
    price_id: randomUUID(),
    feedback_id: randomUUID(),
    key_id: randomUUID(),
    token: randomUUID(),
    destination_id: randomUUID(),
    export_id: randomUUID(),
    run_id,
  });

  /** Required query parameters. */
  const required: Record<string, () => string> = {
    listTraceThreadRuns: () => `session_id=${session_id}`,
    getSelectedRun: () => `project_id=${session_id}`,
    listTraceRuns: () => `project_id=${session_id}`,
    listThreadTraces: () => `project_id=${session_id}`,
    getThreadStats: () => `session_id=${session_id}&selects=TURNS`,
    resolveProject: () => 'kind=AGENT&id=x&environment=local',
    listFeedbackTokens: () => `run_id=${run_id}`,
    listScheduleRuns: () => `source_bulk_export_id=${randomUUID()}`,
  };

  const pathOf = (name: string, route: RouteShape, values: Record<string, string> = {}): string => {
    const all = { ...params(), ...values };
    const path = route.path.replaceAll(/:(\w+)/g, (_, field: string) => all[field] ?? 'x');
    return required[name] ? `${path}?${required[name]()}` : path;
  };

  const send = async (
    route: RouteShape,
    path: string,
    body?: unknown,
    type: string | null = 'application/json',
  ): Promise<Answer> => {
    const response = await fetch(platform.server.url + path, {
      method: route.method.toUpperCase(),
      headers: {
        'x-api-key': platform.key,
        // One of the two workspaces that exist once the sample workspace has been created.
        'x-tenant-id': platform.workspace_id,
        ...(body === undefined || type === null ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: body as string }),
    });
    return { status: response.status, text: await response.text() };
  };

  const made = await platform.call('POST', '/sessions', { json: { name: 'project' } });
  const session_id = (made.body as { id: string }).id;
  const place = await platform.call('POST', '/bulk-exports/destinations', { json: folder() });
  const destination_id = (place.body as { id: string }).id;
  const json = { id: run_id, name: 'run', session_id, start_time: Date.now() };
  expect((await platform.call('POST', '/runs', { json })).status).toBe(202);
  return {
    platform,
    session_id,
    samples,
    pathOf,
    send,
    async expectServing() {
      expect((await platform.server.call('GET', '/ok?check_db=1')).body).toEqual({ ok: true });
    },
  };
};

/** Sends every route its valid body with each of the values in each of the fields. */
export const expectFieldsRejected = async (
  { samples, send, pathOf, expectServing }: SampledPlatform,
  wrong: readonly unknown[],
): Promise<void> => {
  for (const [name, route] of withBody) {
    // Of a union, the sample has the fields of one member.
    const { shape = samples()[name] ?? {} } = route.body as unknown as {
      shape?: Record<string, unknown>;
    };
    const fields = Object.keys(shape);
    expect(fields.length, name).toBeGreaterThan(0);
    for (const field of fields) {
      for (const value of wrong) {
        const sample = { ...samples()[name], [field]: value };
        const answer = await send(route, pathOf(name, route), JSON.stringify(sample));
        const what = `${name} ${field}=${JSON.stringify(value).slice(0, 40)}`;
        expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).toBeLessThan(500);
        if (answer.status >= 400) expectProblem(answer, [403, 404, 409, 422], what);
        if (answer.status === 422) expect(answer.text, what).toContain(field);
      }
    }
  }
  await expectServing();
};

/** Sends every route each of the values in each of its query parameters. */
export const expectQueriesRejected = async (
  { samples, send, pathOf, expectServing }: SampledPlatform,
  values: readonly string[],
): Promise<void> => {
  for (const [name, route] of routes.filter(([, one]) => one.query)) {
    for (const field of Object.keys(route.query?.shape ?? {})) {
      for (const value of values) {
        const path = pathOf(name, route);
        const url = `${path}${path.includes('?') ? '&' : '?'}${field}=${value}`;
        const body = samples()[name];
        const answer = await send(route, url, body && JSON.stringify(body));
        const what = `${name} ?${field}=${value}`;
        expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
        if (answer.status >= 400) expectProblem(answer, [400, 404, 409, 422], what);
      }
    }
  }
  await expectServing();
};

// Empty requests (empty bodies, lists and objects) for every route of both APIs. A handler with nothing to do still checks authorization,
// and an empty request never causes a 5xx.
import { randomUUID } from 'node:crypto';
import { deploymentRoutes, platformRoutes, type RouteShape } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startPlatform } from '../platform/platform-server.ts';
import { authProjects } from './auth-projects.ts';
import { fixture } from '../fixture.ts';

const projects = fixture(() => authProjects());
const server = fixture(() =>
  projects.serve(`export const auth = new Auth()
    .authenticate((request) => ({ identity: request.headers.get('authorization') ?? '' }))
    .on('*', ({ user }) => user.identity === 'allowed');`),
);
const platform = fixture(() => startPlatform({}, { executors: 'started' }));
let values: Record<string, string>;
beforeAll(async () => {
  const make = async (path: string, body: object) =>
    (await server.call('POST', path, body, { authorization: 'allowed' })).body as Record<string, string>;
  const { assistant_id = '' } = await make('/assistants', { graph_id: 'probe' });
  const { thread_id = '' } = await make('/threads', { metadata: { graph_id: 'probe' } });
  const { cron_id = '' } = await make('/runs/crons', { assistant_id, schedule: '0 0 1 1 *' });
  const { run_id = '' } = await make(`/threads/${thread_id}/runs`, { assistant_id, input: {} });
  values = { assistant_id, thread_id, cron_id, run_id };
});

interface Schema {
  type?: string;
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** Minimal values of a schema; the first one has only what the schema requires. */
const emptiesOf = (schema: Schema, defs: Record<string, Schema>, depth = 0): unknown[] => {
  const { $ref, anyOf, type, properties = {}, required = [] } = schema;
  if ($ref !== undefined) return emptiesOf(defs[$ref.split('/').at(-1) ?? ''] ?? {}, defs, depth + 1);
  if (anyOf) return anyOf.flatMap((one) => emptiesOf(one, defs, depth));
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return [schema.enum[0], schema.enum.at(-1)];
  switch (type) {
    case 'array':
      return depth > 4 ? [[]] : [[], [emptiesOf(schema.items ?? {}, defs, depth + 1)[0]]];
    case 'string':
      return schema.format === 'uuid' ? [randomUUID()] : ['probe', ''];
    case 'integer':
    case 'number':
      return [1, 0];
    case 'boolean':
      return [true, false];
    case 'null':
      return [null];
    case undefined:
    default: {
      if (depth > 4) return [{}];
      const base = Object.fromEntries(
        required.map((name) => [name, emptiesOf(properties[name] ?? {}, defs, depth + 1)[0]]),
      );
      const others = Object.entries(properties).flatMap(([name, property]) =>
        emptiesOf(property, defs, depth + 1).map((value) => ({ ...base, [name]: value })),
      );
      return [base, {}, ...others];
    }
  }
};

const bodiesOf = ({ body, upload }: RouteShape): (string | undefined)[] => {
  if (upload) return [undefined, '', '{}', '[]', '{"post":[],"patch":[]}', '{"resourceSpans":[]}'];
  if (!body) return [undefined];
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Schema;
  const found = emptiesOf(schema, schema.$defs ?? {}).map((value) => JSON.stringify(value));
  return [...new Set([undefined, '', '{}', '[]', ...found])];
};

const pathOf = (route: RouteShape, known: Record<string, string>): string => {
  const query = Object.entries(route.query?.shape ?? {}).flatMap(([name, type]) =>
    (type as z.ZodType).safeParse(undefined).success ? [] : [`${name}=${known[name] ?? randomUUID()}`],
  );
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? randomUUID());
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
};

const send = async (
  url: string,
  route: RouteShape,
  path: string,
  body: string | undefined,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> => {
  const response = await fetch(url + path, {
    method: route.method.toUpperCase(),
    ...(body === undefined
      ? { headers }
      : { headers: { 'content-type': 'application/json', ...headers }, body }),
  });
  const isCommand = path.endsWith('/commands');
  if (response.status >= 400 || isCommand) return { status: response.status, text: await response.text() };
  await response.body?.cancel();
  return { status: response.status, text: '' };
};

const last = ['deleteThread', 'deleteRun', 'deleteCron', 'deleteAssistant'];
const routes = Object.entries(deploymentRoutes as Record<string, RouteShape>)
  .filter(([, { access }]) => access !== 'public')
  .toSorted(([a], [b]) => last.indexOf(a) - last.indexOf(b));

describe('a minimal request', () => {
  // A ticket has the permissions of its caller, so every caller may create one.
  const guarded = routes.filter(([, { access }]) => access !== 'caller');
  it.each(guarded)('is rejected by %s for a user without permissions', async (_, route) => {
    for (const body of bodiesOf(route))
      for (const path of [pathOf(route, values), pathOf(route, {})]) {
        const { status, text } = await send(server.url, route, path, body, { authorization: 'denied' });
        // Commands report it in the response.
        const isDenied = path.endsWith('/commands') && text.includes('"error":"permission_denied"');
        expect([status, route.method, path, body, text]).toEqual([
          isDenied ? 200 : expect.toBeOneOf([400, 403, 404, 415, 422]),
          route.method,
          path,
          body,
          text,
        ]);
      }
  });

  it.each(routes)('is accepted by %s for a user with all permissions', async (_, route) => {
    for (const body of bodiesOf(route))
      for (const path of [pathOf(route, values), pathOf(route, {})]) {
        const { status, text } = await send(server.url, route, path, body, { authorization: 'allowed' });
        expect(status, `${path} ${body} ${text}`).toBeLessThan(500);
      }
  });

  it.each(Object.entries(platformRoutes as Record<string, RouteShape>))(
    'is answered by %s of the platform without a 5xx',
    async (_, route) => {
      const headers = { 'x-api-key': platform.key, 'x-tenant-id': platform.workspace_id };
      for (const body of bodiesOf(route)) {
        const { status, text } = await send(platform.server.url, route, pathOf(route, {}), body, headers);
        expect(status, `${route.path} ${body} ${text}`).toBeLessThan(500);
      }
    },
  );
});

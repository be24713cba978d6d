// Two workspaces on one server: the responses to one do not depend on the data of the other.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformRoutes, type NewApiKey, type Workspace } from '@svc/contract';
import { eventually } from '../eventually.ts';
import { asTenant } from '../../src/storage/postgres/tenant.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
let ours: string;
let theirs: string;
let theirAdmin: string;
let theirProject: string;
let ourKey: string;
let ourWorkspace: string;
let theirWorkspace: string;
beforeAll(async () => {
  platform = await startPlatform();
  ourWorkspace = platform.workspace_id;
  const made = await platform.call('POST', '/workspaces', { json: { display_name: 'theirs' } });
  theirWorkspace = (made.body as Workspace).id;
  const newKey = async (tenant: string, role = 'editor'): Promise<string> => {
    const { body } = await platform.call('POST', '/api-key', {
      json: { role },
      headers: { 'x-tenant-id': tenant },
    });
    const made = body as NewApiKey;
    if (tenant === ourWorkspace) ourKey = made.id;
    return made.key;
  };
  [ours, theirs] = [await newKey(ourWorkspace), await newKey(theirWorkspace)];
  theirAdmin = await newKey(theirWorkspace, 'admin');
  const project = await platform.call('POST', '/sessions', { key: theirs, json: { name: 'theirs' } });
  theirProject = (project.body as { id: string }).id;
});
afterAll(() => platform[Symbol.asyncDispose]());

interface Run {
  id: string;
  trace_id: string;
  session_id: string;
}

const send = async (key: string, run: object): Promise<Run> => {
  const json = { name: 'secret', session_name: 'shared name', start_time: Date.now(), ...run };
  expect((await platform.call('POST', '/runs', { key, json })).status).toBe(202);
  const { id } = run as { id: string };
  return (await platform.call('GET', `/runs/${id}`, { key })).body as Run;
};

/** Ids of this workspace, or unknown ids. */
interface Named {
  id: string;
  session_id: string;
  price: string;
  feedback: string;
  key_id: string;
  destination: string;
  bulk_export: string;
  export_run: string;
}

interface RequestCase {
  /** Sent with an admin's key: keys without that role get 403 for any id. */
  isForAdmins?: boolean;
  path: string;
  json?: unknown;
  body?: string;
  type?: string;
}

const priceBody = { name: 'secret', match_pattern: '^x', prompt_cost: 1, completion_cost: 1 };
const query = (json: (named: Named) => object) => (named: Named) => ({
  path: '/runs/query',
  json: json(named),
});
/** After all trace runs. It is given because the default is the time of each request. */
const end_time = new Date(Date.now() + 600_000).toISOString();
const series = (json: object): RequestCase => ({ path: '/runs/stats/series', json: { ...json, end_time } });
const same = (path: string, json?: unknown) => (): RequestCase => ({ path, json });
const asAdmin =
  (request: (named: Named) => RequestCase) =>
  (named: Named): RequestCase => ({ ...request(named), isForAdmins: true });
const place = ({ destination }: Named): string => `/bulk-exports/destinations/${destination}`;
const exported = ({ bulk_export }: Named): string => `/bulk-exports/${bulk_export}`;
const exportOf = ({ session_id, destination }: Named) => ({
  bulk_export_destination_id: destination,
  session_id,
  start_time: '2026-11-01T00:00:00Z',
  end_time: '2026-11-02T00:00:00Z',
});

/** Requests to each route that name ids of another workspace. A route without an entry does not compile. */
const cases: Record<keyof typeof platformRoutes, ((named: Named) => RequestCase)[]> = {
  getIngestInfo: [same('/info')],
  listWorkspaces: [same('/workspaces')],
  getSettings: [same('/settings')],
  // Only admins may read these, and the test's key is an editor's.
  listServerSettings: [same('/server/settings')],
  listServerWorkers: [same('/server/workers')],
  createWorkspace: [same('/workspaces', { display_name: 'x' })],
  listKeys: [same('/api-key')],
  createKey: [({ session_id }) => ({ path: '/api-key', json: { workspaces: [session_id] } })],
  revokeKey: [({ key_id }) => ({ path: `/api-key/${key_id}` })],
  listProjects: [same('/sessions'), same(`/sessions?name=${encodeURIComponent('shared name')}`)],
  listTypedProjects: [
    same('/../v2/sessions'),
    ({ session_id }) => ({ path: `/../v2/sessions?id=${session_id}` }),
    same('/../v2/sessions?name_contains=shared'),
  ],
  resolveProject: [same('/sessions/resolutions?kind=AGENT&id=ours&environment=LOCAL')],
  changeProject: [({ session_id }) => ({ path: `/sessions/${session_id}`, json: { description: 'theirs' } })],
  getProject: [({ session_id }) => ({ path: `/sessions/${session_id}` })],
  getTraceRun: [({ id }) => ({ path: `/runs/${id}` })],
  listTraceAttachments: [({ id }) => ({ path: `/runs/${id}/attachments` })],
  getTraceAttachment: [({ id }) => ({ path: `/runs/${id}/attachments/x` })],
  // The link is the permission.
  openAttachmentLink: [],
  getTrace: [({ id }) => ({ path: `/traces/${id}` })],
  getRunStats: [
    ({ session_id }) => ({ path: '/runs/stats', json: { session: [session_id] } }),
    ({ id }) => ({ path: '/runs/stats', json: { id: [id] } }),
    ({ id }) => ({ path: '/runs/stats', json: { trace: id } }),
  ],
  getRunStatsSeries: [
    ({ session_id }) => series({ session: [session_id] }),
    ({ id }) => series({ id: [id], filter: `eq(id, "${id}")` }),
    ({ id }) => series({ trace: id }),
    () => series({ trace_filter: 'eq(name, "secret")', tree_filter: 'eq(name, "secret")' }),
  ],
  queryTraceRuns: [
    query(({ id }) => ({ id: [id] })),
    query(({ id }) => ({ trace: id })),
    query(({ id }) => ({ parent_run: id })),
    query(({ session_id }) => ({ session: [session_id] })),
    query(({ id }) => ({ filter: `eq(id, "${id}")` })),
    query(() => ({ filter: 'eq(name, "secret")' })),
    query(() => ({ filter: 'eq(feedback_key, "secret")' })),
    query(() => ({ filter: 'and(eq(metadata_key, "thread_id"), eq(metadata_value, "shared"))' })),
    query(() => ({ trace_filter: 'eq(name, "secret")', tree_filter: 'eq(name, "secret")' })),
  ],
  querySelectedRuns: [
    ({ id }) => ({ path: '/../v2/runs/query', json: { ids: [id], selects: ['NAME'] } }),
    ({ id }) => ({ path: '/../v2/runs/query', json: { trace_id: id } }),
    ({ session_id }) => ({ path: '/../v2/runs/query', json: { project_ids: [session_id] } }),
  ],
  getSelectedRun: [({ id, session_id }) => ({ path: `/../v2/runs/${id}?project_id=${session_id}` })],
  queryTraces: [
    ({ session_id }) => ({ path: '/../v2/traces/query', json: { project_id: session_id } }),
    ({ id }) => ({ path: '/../v2/traces/query', json: { project_id: theirProject, trace_ids: [id] } }),
  ],
  listTraceRuns: [
    ({ id, session_id }) => ({ path: `/../v2/traces/${id}/runs?project_id=${session_id}` }),
    ({ id }) => ({ path: `/../v2/traces/${id}/runs?project_id=${theirProject}` }),
  ],
  queryTraceThreads: [
    ({ session_id }) => ({ path: '/../v2/threads/query', json: { project_id: session_id } }),
  ],
  listThreadTraces: [
    ({ session_id }) => ({ path: `/../v2/threads/shared/traces?project_id=${session_id}` }),
    ({ session_id }) => ({
      path: `/../v2/threads/shared/traces?project_id=${session_id}&selects=TURN_NUMBER&selects=INPUTS`,
    }),
  ],
  getThreadStats: [
    ({ session_id }) => ({ path: `/../v2/threads/shared/stats?session_id=${session_id}&selects=TURNS` }),
    ({ session_id }) => ({
      path: `/../v2/threads/shared/stats?session_id=${session_id}&selects=TOTAL_TOKENS`,
    }),
  ],
  getThreadAggregates: [
    ({ session_id }) => ({
      path: '/../v2/threads/stats',
      json: { project_id: session_id, select: ['THREAD_COUNT', 'TOTAL_COST', 'LATENCY_P50'] },
    }),
  ],
  groupRuns: [({ session_id }) => ({ path: '/runs/group', json: { session_id, group_by: 'conversation' } })],
  listTraceThreadRuns: [({ session_id }) => ({ path: `/runs/threads/shared?session_id=${session_id}` })],
  listFeedback: [({ id }) => ({ path: `/feedback?run=${id}&key=secret` }), same('/feedback?key=secret')],
  // The response is a random token.
  createFeedbackToken: [],
  listFeedbackTokens: [({ id }) => ({ path: `/feedback/tokens?run_id=${id}` })],
  visitFeedbackToken: [({ feedback }) => ({ path: `/feedback/tokens/${feedback}?score=1` })],
  useFeedbackToken: [({ feedback }) => ({ path: `/feedback/tokens/${feedback}`, json: { score: 1 } })],
  getFeedback: [({ feedback }) => ({ path: `/feedback/${feedback}` })],
  listModelPrices: [same('/model-prices')],
  listRunsOfTraceThread: [
    ({ session_id }) => ({ path: `/runs/threads?thread_id=shared&session_id=${session_id}` }),
  ],
  listDestinations: [same('/bulk-exports/destinations')],
  getDestination: [(named) => ({ path: place(named) })],
  testDestination: [asAdmin((named) => ({ path: `${place(named)}/test` }))],
  listExports: [
    same('/bulk-exports'),
    ({ session_id }) => ({ path: `/bulk-exports?session_id=${session_id}` }),
    ({ destination }) => ({ path: `/bulk-exports?bulk_export_destination_id=${destination}` }),
  ],
  getExport: [(named) => ({ path: exported(named) })],
  listExportRuns: [(named) => ({ path: `${exported(named)}/runs` })],
  getExportRun: [(named) => ({ path: `${exported(named)}/runs/${named.export_run}` })],
  listExportEvents: [(named) => ({ path: `${exported(named)}/events` })],
  getExportManifest: [(named) => ({ path: `${exported(named)}/manifest` })],
  listScheduleRuns: [
    ({ bulk_export }) => ({ path: `/bulk-exports/runs?source_bulk_export_id=${bulk_export}` }),
  ],
  validateExport: [
    (named) => ({ path: '/bulk-exports/validate', json: exportOf(named) }),
    (named) => ({ path: '/bulk-exports/validate', json: { ...exportOf(named), session_id: theirProject } }),
  ],
  // These requests write, and may create an object of the same name.
  createExport: [
    asAdmin((named) => ({ path: '/bulk-exports', json: exportOf(named) })),
    asAdmin((named) => ({ path: '/bulk-exports', json: { ...exportOf(named), session_id: theirProject } })),
  ],
  changeExport: [asAdmin((named) => ({ path: exported(named), json: { status: 'Cancelled' } }))],
  changeDestination: [
    asAdmin((named) => ({
      path: place(named),
      json: { credentials: { access_key_id: 'x', secret_access_key: 'y' } },
    })),
  ],
  deleteDestination: [asAdmin((named) => ({ path: place(named) }))],
  // The request names no id.
  createDestination: [],
  createFeedback: [
    ({ id, price }) => ({ path: '/feedback', json: { id: price, run_id: id, key: 'theirs' } }),
  ],
  changeFeedback: [({ feedback }) => ({ path: `/feedback/${feedback}`, json: { comment: 'theirs' } })],
  deleteFeedback: [({ feedback }) => ({ path: `/feedback/${feedback}` })],
  replaceModelPrice: [({ price }) => ({ path: `/model-prices/${price}`, json: priceBody })],
  deleteModelPrice: [({ price }) => ({ path: `/model-prices/${price}` })],
  // The request names no id.
  createModelPrice: [],
  deleteProject: [({ session_id }) => ({ path: `/sessions/${session_id}` })],
  createProject: [
    ({ session_id }) => ({ path: '/sessions?upsert=true', json: { id: session_id, name: session_id } }),
  ],
  ingestRun: [({ id }) => ({ path: '/runs', json: { id, name: 'theirs', parent_run_id: null } })],
  ingestRunPatch: [({ id }) => ({ path: `/runs/${id}`, json: { error: 'theirs' } })],
  ingestBatch: [
    ({ id, session_id }) => ({ path: '/runs/batch', json: { patch: [{ id, session_id, error: 'x' }] } }),
  ],
  ingestMultipart: [
    ({ id }) => ({
      path: '/runs/multipart',
      type: 'multipart/form-data; boundary=b',
      body: `--b\r\nContent-Disposition: form-data; name="patch.${id}"\r\n\r\n{"error":"theirs"}\r\n--b--\r\n`,
    }),
  ],
  ingestOtlp: [same('/otel/v1/traces', { resourceSpans: [] })],
};

/** A completed export of a day without runs. */
const exportOurs = async ({
  session_id,
}: Run): Promise<Pick<Named, 'destination' | 'bulk_export' | 'export_run'>> => {
  const admin = async (method: string, path: string, json?: unknown): Promise<unknown> =>
    (await platform.call(method, `/bulk-exports${path}`, { json, headers: { 'x-tenant-id': ourWorkspace } }))
      .body;
  const made = await admin('POST', '/destinations', {
    destination_type: 'file',
    display_name: 'secret',
    config: { path: 'ours' },
  });
  const destination = (made as { id: string }).id;
  const body = { ...exportOf({ session_id, destination } as Named) };
  const bulk_export = ((await admin('POST', '', body)) as { id: string }).id;
  await eventually(async () =>
    expect(await admin('GET', `/${bulk_export}`)).toMatchObject({ status: 'COMPLETED' }),
  );
  const [run] = (await admin('GET', `/${bulk_export}/runs`)) as { id: string }[];
  return { destination, bulk_export, export_run: run?.id ?? '' };
};

/** Everything that the owner can read of these objects. */
const seen = async ({ id, session_id, destination, bulk_export }: Named): Promise<unknown[]> => {
  const paths = [
    `/runs/${id}`,
    `/sessions/${session_id}`,
    '/feedback',
    '/sessions',
    '/model-prices',
    `/bulk-exports/destinations/${destination}`,
    `/bulk-exports/${bulk_export}/manifest`,
    '/bulk-exports',
  ];
  const bodies: unknown[] = [];
  for (const path of paths) bodies.push((await platform.call('GET', path, { key: ours })).body);
  return bodies;
};

describe('another workspace', () => {
  let mine: Named;
  beforeAll(async () => {
    const run = await send(ours, {
      id: randomUUID(),
      inputs: { secret: 1 },
      extra: { metadata: { thread_id: 'shared' } },
    });
    const feedbackResponse = await platform.call('POST', '/feedback', {
      key: ours,
      json: { run_id: run.id, key: 'secret', score: 1 },
    });
    const made = await platform.call('POST', '/model-prices', { key: ours, json: priceBody });
    const price = (made.body as { id: string }).id;
    mine = {
      id: run.id,
      session_id: run.session_id,
      price,
      feedback: (feedbackResponse.body as { id: string }).id,
      key_id: ourKey,
      ...(await exportOurs(run)),
    };
  });

  it('gets the same response for ids of this workspace as for unknown ids, on every route', async () => {
    const before = await seen(mine);
    for (const [name, requests] of Object.entries(cases)) {
      const route = platformRoutes[name as keyof typeof platformRoutes];
      for (const [at, request] of requests.entries()) {
        const answer = async (named: Named): Promise<string> => {
          const { path, json, body, type, isForAdmins } = {
            json: undefined,
            body: undefined,
            type: undefined,
            isForAdmins: false,
            ...request(named),
          };
          const headers = type === undefined ? {} : { 'content-type': type };
          const method = route.method.toUpperCase();
          const given = body === undefined ? { json } : { body };
          const { status, body: responseBody } = await platform.call(method, path, {
            key: isForAdmins ? theirAdmin : theirs,
            headers,
            ...given,
          });
          const text = JSON.stringify(responseBody, (field, value: unknown) =>
            ['request_id', 'created_at', 'modified_at', 'start_time', 'last_used_at'].includes(field)
              ? undefined
              : value,
          );
          const names = Object.entries(named).reduce(
            (shown, [field, id]) => shown.replaceAll(id, field),
            text,
          );
          return `${status} ${names}`;
        };
        const absent = {
          id: randomUUID(),
          session_id: randomUUID(),
          price: randomUUID(),
          feedback: randomUUID(),
          key_id: randomUUID(),
          destination: randomUUID(),
          bulk_export: randomUUID(),
          export_run: randomUUID(),
        };
        expect(await answer(mine), `${name} ${at}`).toBe(await answer(absent));
      }
    }
    expect(await seen(mine)).toEqual(before);
  });

  it('may have runs with the same ids, which are separate', async () => {
    const id = randomUUID();
    const first = await send(ours, { id, inputs: { owner: 'ours' } });
    const second = await send(theirs, { id, inputs: { owner: 'theirs' } });
    await platform.call('PATCH', `/runs/${id}`, {
      key: theirs,
      json: { end_time: Date.now(), outputs: { of: 'theirs' } },
    });
    expect(second.session_id).not.toBe(first.session_id);
    const read = async (key: string) => (await platform.call('GET', `/runs/${id}`, { key })).body;
    expect(await read(ours)).toMatchObject({ inputs: { owner: 'ours' }, outputs: null, status: 'pending' });
    expect(await read(theirs)).toMatchObject({ inputs: { owner: 'theirs' }, outputs: { of: 'theirs' } });
  });

  it('cannot have its keys revoked from here', async () => {
    const { body } = await platform.call('POST', '/api-key', {
      json: {},
      headers: { 'x-tenant-id': theirWorkspace },
    });
    const admin = await platform.call('POST', '/api-key', {
      json: { role: 'admin' },
      headers: { 'x-tenant-id': ourWorkspace },
    });
    const { key } = admin.body as NewApiKey;
    expect(await platform.call('DELETE', `/api-key/${(body as NewApiKey).id}`, { key })).toMatchObject({
      status: 404,
    });
  });
});

describe('row level security', () => {
  it('hides rows when a statement omits the workspace', async () => {
    const run = await send(ours, { id: randomUUID() });
    await platform.call('POST', '/feedback', { key: ours, json: { run_id: run.id, key: 'k' } });
    const { database } = platform.server;
    const tables = ['projects', 'trace_run_days', 'trace_runs', 'feedback'];
    for (const table of tables) {
      const count = (tenant: string) =>
        asTenant(database, tenant, (tx) =>
          tx.query<{ count: number }>({ name: `count_${table}`, text: `select count(*) from ${table}` }, []),
        );
      expect((await count(ourWorkspace))[0]?.count, table).toBeGreaterThan(0);
      expect((await count(randomUUID()))[0]?.count, table).toBe(0);
    }
    const steal = asTenant(database, theirWorkspace, (tx) =>
      tx.query({ name: 'steal', text: 'update trace_runs set name = $1 where id = $2 returning id' }, [
        'x',
        run.id,
      ]),
    );
    expect(await steal).toEqual([]);
    const plant = asTenant(database, theirWorkspace, (tx) =>
      tx.query({ name: 'plant', text: 'insert into trace_run_days values ($1, $2, current_date)' }, [
        ourWorkspace,
        randomUUID(),
      ]),
    );
    await expect(plant).rejects.toThrow(/row-level security/);
    const around = asTenant(database, theirWorkspace, (tx) =>
      tx.query({ name: 'around', text: 'select 1 from trace_runs_far' }, []),
    );
    await expect(around).rejects.toThrow(/permission denied/);
  });

  it('is on for every table of a workspace, and its policy compares the workspace', async () => {
    const { database } = platform.server;
    const tables = await database.query<{ name: string; is_on: boolean; has_policy: boolean }>(
      {
        name: 'tenant_tables',
        // Partitions are reached through their parents.
        text: `select c.relname as name, c.relrowsecurity as is_on,
            exists (select from pg_policy p where p.polrelid = c.oid
              and pg_get_expr(p.polqual, c.oid) like '%tenant_id%svc.tenant%') as has_policy
          from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
          where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = (select relnamespace from pg_class where oid = 'feedback'::regclass)`,
      },
      [],
    );
    const without = tables.filter(({ is_on, has_policy }) => !is_on || !has_policy).map(({ name }) => name);
    expect(tables.length - without.length).toBeGreaterThan(5);
    // Only the server reads these: which workspaces a key opens, and which traces are of its own runs. The role svc_tenant has no rights on them.
    const serverOnly = ['api_key_workspaces', 'own_trace_runs'];
    expect(without.toSorted()).toEqual(serverOnly);
    const granted = await database.query(
      {
        name: 'tenant_grants',
        text: `select table_name from information_schema.role_table_grants
          where grantee = 'svc_tenant' and table_name = any ($1)`,
      },
      [serverOnly],
    );
    expect(granted).toEqual([]);
  });
});

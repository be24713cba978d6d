// Two users, every route of the router, every id taken from the other user: objects of other users do not exist for a caller. The response
// equals that for an unknown id, and nothing is changed, counted or streamed. A route without a case fails.
import { randomUUID } from 'node:crypto';
import { deploymentRoutes, type RouteShape } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { taskCalls } from './agent-task-calls.ts';
import { createObjects, type Ids, snapshot, unknownIds } from './owned-objects.ts';
import { openSocket } from '../thread-protocol/socket.ts';
import { fixture } from '../fixture.ts';

/** `project`: a config file whose auth file names users as `Bearer <name>`. */
export const testTwoUsers = (project: string): void => {
  const canary = 'canary-of-alice';

  const server = fixture(() => startTestServer({ project, settings }));
  const alice = fixture(() => createObjects(as('alice'), 'alice', canary));
  const bob = fixture(() => createObjects(as('bob'), 'bob', 'mark-of-bob'));
  /** A deleted run of alice that has left a webhook delivery. */
  let delivered_run_id = '';
  let delivered_thread_id = '';

  const as = (user: string) => (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { authorization: `Bearer ${user}` });

  const settings = { jobsPerWorker: '20', heartbeatMs: 1_000 };
  beforeAll(async () => {
    // Two failed deliveries with the ids of their runs: for a run of her thread, and for a deleted stateless run.
    const delivered = {
      name: 'delivered',
      text: `insert into webhook_deliveries (delivery_id, run_id, thread_id, url, run, metadata, status, ended_at)
      select run_id, d.*, rest.* from unnest($1::uuid[], $2::uuid[]) as d(run_id, thread_id),
        lateral (select 'https://example.com/${canary}', '{}', $3::jsonb, 'failed', now()) as rest`,
    };
    const sent = JSON.stringify({ owner: 'alice', mark: canary });
    const ended = [randomUUID(), randomUUID()];
    await server.database.query(delivered, [[alice.run_id, ended[0]], [alice.thread_id, ended[1]], sent]);
    [delivered_run_id = '', delivered_thread_id = ''] = ended;
    // All runs have started: from here on only an attack changes anything.
    await eventually(async () => {
      const text = `select count(*)::int as count from runs where status = 'running' and started_at is not null`;
      expect(await server.database.query({ name: 'running', text }, [])).toEqual([{ count: 4 }]);
    });
  });

  interface Attack {
    query?: string;
    body?: unknown;
    /** Replaces params of the path. */
    params?: Partial<Record<string, string>>;
  }

  /** What bob sends, with ids of alice or unknown ids. */
  type Case = (ids: Ids) => Attack;

  const run = (fields: object = {}) => ({ assistant_id: 'probe', input: { action: 'user' }, ...fields });
  const ofPath: Case = () => ({});
  const inBody =
    (fields: object): Case =>
    () => ({ body: fields });
  /** A run on bob's own thread, with alice's assistant. */
  const herAssistant: Case = ({ assistant_id }) => ({
    params: { thread_id: bob.thread_id },
    body: run({ assistant_id }),
  });
  const stateless: Case = ({ stateless_run_id, stateless_thread_id }) => ({
    params: { run_id: stateless_run_id, thread_id: stateless_thread_id },
  });
  /** Alice's run below a thread of bob's. */
  const belowHis: Case = ({ run_id }) => ({ params: { thread_id: bob.thread_id, run_id } });
  const command =
    (method: string, params: object): Case =>
    () => ({ body: { id: 1, method, params } });
  const agentMessage = {
    role: 'user',
    messageId: 'one',
    parts: [{ kind: 'data', data: { action: 'user' } }],
  };
  const agentCall =
    (method: string, params: (ids: Ids) => object): Case =>
    (ids) => ({ body: { jsonrpc: '2.0', id: 1, method, params: params(ids) } });
  const ofRun = [ofPath, stateless, belowHis];

  /** Each of these gets the same response as a request with unknown ids. */
  const sameAsMissing: Partial<Record<keyof typeof deploymentRoutes, Case[]>> = {
    getAssistant: [ofPath],
    updateAssistant: [inBody({ name: 'mine now' }), inBody({ metadata: { owner: 'bob' } })],
    deleteAssistant: [ofPath, () => ({ query: '?delete_threads=true' })],
    getAssistantGraph: [ofPath],
    getAssistantSchemas: [ofPath],
    getAssistantSubgraphs: [ofPath],
    getAssistantSubgraphsOf: [ofPath],
    listAssistantVersions: [inBody({})],
    setLatestAssistant: [inBody({ version: 1 })],
    getThread: [ofPath],
    getThreadStorage: [ofPath],
    patchThread: [
      inBody({ metadata: { x: 1 } }),
      inBody({ metadata: { owner: 'bob' } }),
      inBody({ ttl: 60 }),
    ],
    deleteThread: [ofPath],
    pruneThreads: [
      ({ thread_id }) => ({ body: { thread_ids: [thread_id] } }),
      ({ thread_id }) => ({ body: { thread_ids: [thread_id], strategy: 'keep_latest' } }),
      ({ idle_thread_id }) => ({ body: { thread_ids: [idle_thread_id], strategy: 'keep_latest' } }),
    ],
    copyThread: [ofPath],
    getThreadState: [ofPath, () => ({ query: '?subgraphs=true' })],
    getThreadStateValue: [
      ofPath,
      () => ({ query: '?path=/note' }),
      ({ checkpoint_id }) => ({
        params: { thread_id: bob.thread_id },
        query: `?checkpoint_id=${checkpoint_id}`,
      }),
    ],
    getThreadStateAt: [
      ofPath,
      ({ checkpoint_id }) => ({ params: { thread_id: bob.thread_id, checkpoint_id } }),
    ],
    getThreadStateAtCheckpoint: [
      ({ checkpoint_id }) => ({ body: { checkpoint: { checkpoint_id } } }),
      ({ checkpoint_id }) => ({
        params: { thread_id: bob.thread_id },
        body: { checkpoint: { checkpoint_id } },
      }),
    ],
    updateThreadState: [
      inBody({ values: { note: 'x' } }),
      ({ checkpoint_id }) => ({ body: { values: { note: 'x' }, checkpoint_id } }),
    ],
    patchThreadState: [inBody({ metadata: { x: 1 } })],
    getThreadHistory: [ofPath, ({ checkpoint_id }) => ({ query: `?before=${checkpoint_id}` })],
    searchThreadHistory: [
      inBody({}),
      ({ checkpoint_id }) => ({ body: { checkpoint: { checkpoint_id } } }),
      ({ checkpoint_id }) => ({
        params: { thread_id: bob.thread_id },
        body: { checkpoint: { checkpoint_id } },
      }),
    ],
    createRun: [() => ({ body: run() }), herAssistant],
    streamRun: [() => ({ body: run() }), herAssistant],
    waitRun: [() => ({ body: run() }), herAssistant],
    createStatelessRun: [herAssistant],
    streamStatelessRun: [herAssistant],
    waitStatelessRun: [herAssistant],
    createRunBatch: [({ assistant_id }) => ({ body: [run({ assistant_id })] })],
    createCron: [({ assistant_id }) => ({ body: { assistant_id, schedule: '0 0 1 1 *' } })],
    createThreadCron: [
      () => ({ body: { assistant_id: 'probe', schedule: '0 0 1 1 *' } }),
      ({ assistant_id }) => ({
        params: { thread_id: bob.thread_id },
        body: { assistant_id, schedule: '0 0 1 1 *' },
      }),
    ],
    getCron: [ofPath],
    updateCron: [inBody({ enabled: false }), inBody({ metadata: { owner: 'bob' } })],
    deleteCron: [ofPath],
    getJob: [ofPath],
    listJobRows: [ofPath],
    startJob: [ofPath],
    cancelJob: [ofPath],
    listRuns: [ofPath, () => ({ query: '?status=running' })],
    getRun: ofRun,
    getRunTimeline: ofRun,
    deleteRun: ofRun,
    joinRun: ofRun,
    joinRunStream: [...ofRun, () => ({ query: '?cancel_on_disconnect=1' })],
    joinStatelessRunStream: [ofPath, stateless],
    joinThreadStream: [ofPath],
    sendThreadCommand: [
      command('input.respond', { interrupt_id: 'x', response: 1 }),
      command('input.inject', { namespace: [], message: { role: 'user', content: 'x' } }),
      command('agent.getTree', {}),
      ({ run_id }) => ({
        params: { thread_id: bob.thread_id },
        ...command('agent.getTree', { run_id })(bob),
      }),
      command('state.get', {}),
      command('state.listCheckpoints', {}),
      ({ checkpoint_id }) => command('state.fork', { checkpoint_id })(bob),
      ({ checkpoint_id }) => ({
        params: { thread_id: bob.thread_id },
        ...command('state.fork', { checkpoint_id })(bob),
      }),
      ({ checkpoint_id }) => ({
        params: { thread_id: bob.thread_id },
        ...command('run.start', { ...run(), config: { configurable: { checkpoint_id } } })(bob),
      }),
      ({ assistant_id }) => ({
        params: { thread_id: bob.thread_id },
        ...command('run.start', run({ assistant_id }))(bob),
      }),
    ],
    sendRunInput: ofRun.map((of): Case => (ids) => ({ ...of(ids), body: { input: { note: 'mine' } } })),
    cancelRun: [...ofRun, () => ({ query: '?action=rollback' }), () => ({ query: '?wait=1' })],
    cancelRuns: [
      ({ thread_id, run_id }) => ({ body: { thread_id, run_ids: [run_id] } }),
      ({ stateless_thread_id, stateless_run_id }) => ({
        body: { thread_id: stateless_thread_id, run_ids: [stateless_run_id] },
      }),
    ],
    listRunWebhooks: [
      ...ofRun,
      (ids) =>
        ids === alice
          ? { params: { thread_id: delivered_thread_id, run_id: delivered_run_id } }
          : { params: { ...ids } },
    ],
    retryWebhookDelivery: [
      ({ run_id }) => ({ params: { delivery_id: run_id } }),
      (ids) =>
        ids === alice
          ? {
              params: {
                thread_id: delivered_thread_id,
                run_id: delivered_run_id,
                delivery_id: delivered_run_id,
              },
            }
          : { params: { ...ids, delivery_id: ids.run_id } },
    ],
    callAgent: [
      agentCall('tasks/get', ({ run_id: id }) => ({ id })),
      agentCall('GetExtendedAgentCard', () => ({})),
      agentCall('message/send', () => ({ message: agentMessage })),
    ],
    getAgentCard: [({ assistant_id }) => ({ query: `?assistant_id=${assistant_id}` })],
    getAgentCardOf: [ofPath],
    getItem: [() => ({ query: `?key=${canary}&namespace=alice.notes` })],
    deleteItem: [inBody({ namespace: ['alice', 'notes'], key: canary })],
    putItem: [inBody({ namespace: ['alice', 'notes'], key: canary, value: {} })],
  };

  /** Each of these returns bob's own objects only, and counts only those; attacks create runs of bob, which are not counted. */
  const scoped: Partial<Record<keyof typeof deploymentRoutes, { bodies: object[]; count?: number }>> = {
    searchAssistants: { bodies: [{}, { metadata: { mark: canary } }, { name: canary }], count: 1 },
    countAssistants: { bodies: [{}, { metadata: { mark: canary } }], count: 1 },
    searchThreads: {
      bodies: [
        {},
        { metadata: { owner: 'alice' } },
        { values: { note: canary } },
        { created_after: '2020-01-01T00:00:00Z' },
      ],
      count: 2,
    },
    countThreads: {
      bodies: [
        {},
        { metadata: { owner: 'alice' } },
        { values: { note: canary } },
        { created_after: '2020-01-01T00:00:00Z' },
      ],
      count: 2,
    },
    searchRuns: { bodies: [{}, { status: ['success'], sort_order: 'asc' }] },
    getRunFigures: { bodies: [{}, { status: ['success'] }] },
    searchWebhookDeliveries: { bodies: [{}, { status: ['failed'] }, { limit: 1 }], count: 0 },
    searchCrons: { bodies: [{}, { metadata: { owner: 'alice' } }], count: 1 },
    countCrons: { bodies: [{}, { metadata: { owner: 'alice' } }], count: 1 },
    searchItems: { bodies: [{}, { namespace_prefix: ['alice'] }, { filter: { mark: canary } }], count: 1 },
    listNamespaces: {
      bodies: [{}, { prefix: ['alice'] }, { suffix: ['notes'] }, { max_depth: 1 }],
      count: 1,
    },
  };

  /** Tested elsewhere. */
  const others = new Set([
    'createAssistant',
    'createThread',
    'createJob',
    'listJobs',
    'streamThreadEvents',
    'streamRunChanges', // in test/runs/run-changes.test.ts
    'openThreadSocket',
    'createTicket',
    'getUi', // in test/ui: components belong to the project, not to a user
    'callMcp',
  ]);

  const routes = Object.entries(deploymentRoutes) as [keyof typeof deploymentRoutes, RouteShape][];
  const guarded = routes.filter(([, { access }]) => access !== 'public');

  const attack = async (route: RouteShape, given: Attack, ids: Ids) => {
    const params: Record<string, string> = { ...ids, namespace: 'inner', ...given.params };
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? 'x');
    const answer = await as('bob')(route.method.toUpperCase(), path + (given.query ?? ''), given.body);
    const text = JSON.stringify(answer.body);
    const { request_id: _, ...body } = (answer.body ?? {}) as { request_id?: string };
    const known = [...Object.values(ids), ...(ids === alice ? [delivered_run_id, delivered_thread_id] : [])];
    const masked = JSON.stringify(body).replaceAll(/"request_id":"[\w-]+"/g, '"request_id":"<id>"');
    const anonymous = known.reduce((shown, id) => shown.replaceAll(id, '<id>'), masked);
    const headers = [...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
    return { status: answer.status, text, anonymous, headers: JSON.stringify(headers) };
  };

  describe('an object of another user', () => {
    it('has a case for every route that is not public', () => {
      const covered = new Set([...Object.keys(sameAsMissing), ...Object.keys(scoped), ...others]);
      expect(guarded.map(([name]) => name).filter((name) => !covered.has(name))).toEqual([]);
      expect([...covered].filter((name) => !guarded.some(([known]) => known === name))).toEqual([]);
    });

    const cases = guarded.flatMap(([name, route]) =>
      (sameAsMissing[name] ?? []).map((make, at) => ({ name, at, route, make })),
    );
    it.each(cases)(
      'is indistinguishable from an unknown one: $name, case $at',
      async ({ name, route, make }) => {
        const before = await snapshot(server.database);
        const hers = await attack(route, make(alice), alice);
        const ids = unknownIds();
        const missing = await attack(route, make(ids), ids);
        expect({ ...hers, text: '' }).toEqual({ ...missing, text: '' });
        expect(hers.text + hers.headers).not.toContain(canary);
        // These routes succeed when they match nothing.
        const isEmpty = ['getItem', 'deleteItem', 'pruneThreads', 'putItem'].includes(name);
        // Errors of commands are in the response.
        if (name === 'sendThreadCommand') expect(hers.text).toContain('"type":"error"');
        else if (!isEmpty) expect(hers.status, hers.text).toBe(404);
        expect(await snapshot(server.database)).toEqual(before);
      },
    );

    it('is not found when it is cancelled together with own runs', async () => {
      const before = await snapshot(server.database);
      const cancelWith = async (other: string): Promise<string> => {
        const run = { assistant_id: bob.assistant_id, input: { action: 'wait' } };
        const { run_id } = (await as('bob')('POST', `/threads/${bob.thread_id}/runs`, run)).body as Ids;
        const body = { thread_id: bob.thread_id, run_ids: [run_id, other] };
        const { status, body: answer } = await as('bob')('POST', '/runs/cancel', body);
        expect(status).toBe(200);
        return JSON.stringify(answer).replaceAll(run_id, 'his').replaceAll(other, 'other');
      };
      const expected = await cancelWith(randomUUID());
      expect(JSON.parse(expected)).toMatchObject({ runs: [{ run_id: 'his' }, { outcome: 'not_found' }] });
      for (const hers of [alice.run_id, alice.stateless_run_id])
        expect(await cancelWith(hers)).toBe(expected);
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('is no row of a job', async () => {
      const before = await snapshot(server.database);
      const totalOf = async (kind: string, which: object): Promise<unknown> =>
        ((await as('bob')('POST', '/jobs', { kind, ...which })).body as { total: unknown }).total;
      const { run_id, stateless_run_id, thread_id, idle_thread_id } = alice;
      expect(await totalOf('cancel_runs', { ids: [run_id, stateless_run_id] })).toBe(0);
      expect(await totalOf('cancel_runs', { filter: { thread_id } })).toBe(0);
      for (const kind of ['delete_threads', 'prune_threads']) {
        expect(await totalOf(kind, { ids: [thread_id, idle_thread_id] })).toBe(0);
        expect(await totalOf(kind, { filter: { metadata: { owner: 'alice' } } })).toBe(0);
        expect(await totalOf(kind, { filter: {} })).toBe(2);
      }
      const listed = JSON.stringify((await as('bob')('GET', '/jobs?limit=100')).body);
      expect(listed).toContain(bob.job_id);
      expect(listed).not.toContain(alice.job_id);
      expect(await snapshot(server.database)).toEqual(before);
    });

    const reads = cases.filter(
      ({ route, name }) => route.method === 'get' && !/Stream$|^joinRun$/.test(name),
    );
    it.each(reads)('is readable for its owner: $name, case $at', async ({ name, route, make }) => {
      // Cases that mix alice's ids with bob's are readable for neither user.
      const given = make(alice);
      if (given.params?.['thread_id'] === bob.thread_id) return expect(name).toMatch(/^get|^delete|^list/);
      const params: Record<string, string> = { ...alice, namespace: 'inner', ...given.params };
      const path = route.path.replaceAll(/:(\w+)/g, (_, key: string) => params[key] ?? 'x');
      const answer = await as('alice')('GET', path + (given.query ?? ''));
      // The graph has no subgraph of this name.
      expect(answer.status).toBe(200);
    });

    const searches = guarded.flatMap(([name, route]) => {
      const { bodies, count } = scoped[name] ?? { bodies: [], count: 0 };
      return bodies.map((body, at) => ({ name, at, route, body, expected: at === 0 ? count : undefined }));
    });
    it.each(searches)('is neither found nor counted: $name, case $at', async ({ route, body, expected }) => {
      const answer = await as('bob')('POST', route.path, body);
      const text = JSON.stringify([answer.body, ...answer.headers]);
      expect(answer.status).toBe(200);
      expect(text).not.toContain(canary);
      expect(text).not.toContain('alice');
      const total = answer.headers.get('x-pagination-total');
      const list = typeof answer.body === 'number' ? [] : Object.values(answer.body as object).flat(1);
      const found = typeof answer.body === 'number' ? answer.body : list.length;
      if (expected !== undefined) expect(found).toBe(expected);
      if (total !== null) expect(Number(total)).toBe(found);
    });

    it('cannot be taken over by creating it again', async () => {
      const before = await snapshot(server.database);
      for (const if_exists of ['raise', 'do_nothing']) {
        const body = { thread_id: alice.thread_id, if_exists, metadata: { owner: 'bob' } };
        const thread = await as('bob')('POST', '/threads', body);
        expect(thread.status).toBe(409);
        expect(JSON.stringify(thread.body)).not.toContain(canary);
        const { assistant_id } = alice;
        const assistant = await as('bob')('POST', '/assistants', {
          assistant_id,
          graph_id: 'probe',
          if_exists,
        });
        expect(assistant.status).toBe(409);
        expect(JSON.stringify(assistant.body)).not.toContain(canary);
      }
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('accepts no run with if_not_exists create', async () => {
      const before = await snapshot(server.database);
      for (const kind of ['', '/stream', '/wait']) {
        const path = `/threads/${alice.thread_id}/runs${kind}`;
        const answer = await as('bob')(
          'POST',
          path,
          run({ if_not_exists: 'create', multitask_strategy: 'rollback' }),
        );
        expect(answer.status).toBe(404);
      }
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('has a feed like that of a thread that does not exist: without events', async () => {
      const before = await snapshot(server.database);
      const open = async (user: string, thread_id: string) => {
        const left = new AbortController();
        const response = await fetch(`${server.url}/threads/${thread_id}/stream/events`, {
          method: 'POST',
          headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
          body: JSON.stringify({ channels: ['values', 'lifecycle', 'tasks'] }),
          signal: left.signal,
        });
        const received = { status: response.status, text: '' };
        const read = async (): Promise<void> => {
          for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
            received.text += part;
        };
        const reading = read().catch(() => undefined);
        return { received, close: () => (left.abort(), reading) };
      };
      const his = await Promise.all([open('bob', alice.thread_id), open('bob', randomUUID())]);
      const hers = await open('alice', alice.thread_id);
      await eventually(() => expect(hers.received.text).toContain(canary));
      // A heartbeat, too, is sent to every reader.
      await eventually(() => {
        for (const { received } of his) expect(received.text).toContain(': heartbeat');
      });
      for (const { received, close } of [...his, hers]) {
        await close();
        if (received !== hers.received)
          expect({ ...received, text: received.text.replaceAll(': heartbeat\n', '') }).toEqual({
            status: 200,
            text: '',
          });
      }
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('has a socket like that of a thread that does not exist: without events, with the same errors', async () => {
      const before = await snapshot(server.database);
      const open = async (user: string, thread_id: string) => {
        const made = await as(user)('POST', '/auth/tickets');
        const { ticket } = made.body as { ticket: string };
        const socket = await openSocket(server.url, thread_id, { query: `?ticket=${ticket}` });
        await socket.command('subscription.subscribe', { channels: ['values', 'lifecycle', 'tasks'] });
        return socket;
      };
      const missing = randomUUID();
      const hers = await open('alice', alice.thread_id);
      const his = [await open('bob', alice.thread_id), await open('bob', missing)] as const;
      await eventually(() => expect(JSON.stringify(hers.events)).toContain(canary));
      const { run_id, checkpoint_id } = alice;
      const commands: [string, object][] = [
        ['state.get', {}],
        ['state.listCheckpoints', {}],
        ['state.fork', { checkpoint_id }],
        ['agent.getTree', {}],
        ['agent.getTree', { run_id }],
        ['input.respond', { interrupt_id: 'x', response: 1 }],
        ['subscription.subscribe', { channels: ['values'], since: 1 }],
        ['subscription.unsubscribe', { subscription_id: randomUUID() }],
      ];
      for (const [method, params] of commands) {
        const answers = await Promise.all(his.map((socket) => socket.command(method, params, 1)));
        const [ofHers, ofMissing] = answers.map((answer) =>
          JSON.stringify(answer)
            .replaceAll(alice.thread_id, '<id>')
            .replaceAll(missing, '<id>')
            .replace(/"subscription_id":"[^"]+"/, ''),
        );
        expect([method, ofHers]).toEqual([method, ofMissing]);
      }
      // Only her thread refuses to be his.
      const start = await his[0].command('run.start', run({ multitask_strategy: 'rollback' }));
      expect(start).toMatchObject({ type: 'error', error: 'invalid_argument' });
      for (const socket of his) {
        expect(socket.events).toEqual([]);
        socket.ws.close();
      }
      hers.ws.close();
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('accepts no run of a command', async () => {
      const before = await snapshot(server.database);
      for (const multitask_strategy of ['enqueue', 'rollback']) {
        const body = { id: 1, method: 'run.start', params: run({ multitask_strategy }) };
        const answer = await as('bob')('POST', `/threads/${alice.thread_id}/commands`, body);
        expect(answer.body).toMatchObject({ type: 'error', error: 'invalid_argument' });
        expect(JSON.stringify(answer.body)).not.toContain(canary);
      }
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('is unaffected by a cancel of all runs', async () => {
      const before = await snapshot(server.database);
      const { run_id } = (await as('bob')('POST', '/runs', run({ input: { action: 'wait' } }))).body as Ids;
      expect((await as('bob')('POST', '/runs/cancel', { status: 'all' })).status).toBe(204);
      const left = { name: 'left', text: 'select run_id from run_cancels' };
      await eventually(async () => {
        const text = `select count(*)::int as count from runs where metadata->>'owner' = 'bob' and status in ('pending', 'running')`;
        expect(await server.database.query({ name: 'left_of_bob', text }, [])).toEqual([{ count: 0 }]);
        expect(await server.database.query(left, [])).toEqual([]);
      });
      expect((await as('bob')('GET', `/runs/${run_id}/stream`)).status).toBe(404);
      expect(await snapshot(server.database)).toEqual(before);
    });

    it('is no tool, and its tool calls cannot be cancelled', async () => {
      const send = (user: string, message: object) =>
        server.call(
          'POST',
          '/mcp',
          { jsonrpc: '2.0', ...message },
          { authorization: `Bearer ${user}`, 'mcp-session-id': 'one' },
        );
      const listed = (await send('bob', { id: 1, method: 'tools/list' })).body as {
        result: { tools: { title: string }[] };
      };
      expect(listed.result.tools.map(({ title }) => title)).toEqual(['mark-of-bob']);
      const before = await snapshot(server.database);
      const callTool = async (assistant_id: string) => {
        const name = `${canary}-${assistant_id.replaceAll('-', '')}`;
        const { status, body } = await send('bob', { id: 2, method: 'tools/call', params: { name } });
        return { status, body: JSON.stringify(body).replaceAll(name, '<name>') };
      };
      const hers = await callTool(alice.assistant_id);
      expect(hers).toEqual(await callTool(randomUUID()));
      expect(hers.body).toContain('Unknown tool');
      expect(await snapshot(server.database)).toEqual(before);

      // The same session and request id as hers.
      const count = async () => {
        const text = `select count(*)::int as count from runs where metadata->>'owner' = 'alice' and status = 'running'`;
        return (await server.database.query({ name: 'running_of_alice', text }, [])) as { count: number }[];
      };
      const running = (await count())[0]?.count ?? 0;
      const name = `x-${alice.assistant_id.replaceAll('-', '')}`;
      const params = { name, arguments: { action: 'wait' } };
      const call = send('alice', { id: 3, method: 'tools/call', params });
      await eventually(async () => expect(await count()).toEqual([{ count: running + 1 }]));
      const cancelled = { method: 'notifications/cancelled', params: { requestId: 3 } };
      expect((await send('bob', cancelled)).status).toBe(202);
      expect(await count()).toEqual([{ count: running + 1 }]);
      expect((await send('alice', cancelled)).status).toBe(202);
      expect((await call).body).toMatchObject({ id: 3, result: { isError: true } });
      expect(await count()).toEqual([{ count: running }]);
    });

    it('is no task of an agent that both users may call', async () => {
      const rpc = async (user: string, method: string, params: object) => {
        const answer = await as(user)('POST', '/a2a/probe', { jsonrpc: '2.0', id: 1, method, params });
        return { status: answer.status, body: JSON.stringify(answer.body) };
      };
      const send = async (user: string) => {
        const parts = [{ kind: 'data', data: { action: 'wait', note: canary } }];
        const message = { ...agentMessage, parts };
        const { body } = await rpc(user, 'message/send', { message, configuration: { blocking: false } });
        return (JSON.parse(body) as { result: { id: string; contextId: string } }).result;
      };
      const hers = await send('alice');
      // The same message of another user starts another task, in another context.
      const his = await send('bob');
      expect([his.id, his.contextId]).not.toContain(hers.id);
      expect(his.contextId).not.toBe(hers.contextId);
      await eventually(async () => {
        const task = await rpc('alice', 'tasks/get', { id: hers.id });
        expect(task.body).toContain('"working"');
        // Its checkpoints are stored: the run stores nothing more while it waits.
        const state = await as('alice')('GET', `/threads/${hers.contextId}/state`);
        expect(state.body).toMatchObject({ next: ['node'] });
      });
      const before = await snapshot(server.database);
      for (const [method, params] of taskCalls(agentMessage)) {
        const ids: { id: string; contextId: string } = { id: randomUUID(), contextId: randomUUID() };
        const unknown = await rpc('bob', method, params(ids));
        const answer = await rpc('bob', method, params(hers));
        expect(answer.body).not.toContain(canary);
        const anonymous = ({ body }: { body: string }, { id, contextId }: typeof ids) =>
          body.replaceAll(id, '<id>').replaceAll(contextId, '<context>');
        expect([method, answer.status, anonymous(answer, hers)]).toEqual([
          method,
          unknown.status,
          anonymous(unknown, ids),
        ]);
      }
      // A message to her context starts nothing there.
      const message = { ...agentMessage, contextId: hers.contextId };
      expect((await rpc('bob', 'message/send', { message })).body).toContain('no such context');
      expect(await snapshot(server.database)).toEqual(before);
      for (const [user, { id }] of [
        ['alice', hers],
        ['bob', his],
      ] as const)
        expect((await rpc(user, 'tasks/cancel', { id })).body).toContain('"canceled"');
    });

    it('is not returned for the same Idempotency-Key', async () => {
      const send = (user: string) =>
        server.call('POST', '/runs/wait', run(), {
          authorization: `Bearer ${user}`,
          'idempotency-key': 'one',
        });
      const [hers, his] = [await send('alice'), await send('bob')];
      expect(his.status).toBe(200);
      expect(his.headers.get('content-location')).not.toBe(hers.headers.get('content-location'));
      expect(JSON.stringify(his.body)).not.toContain('alice');
    });
  });

  describe('without a credential', () => {
    it.each(guarded)('%s returns 401', async (_, route) => {
      const idOf = (_match: string, name: string) => ({ ...alice })[name as keyof Ids] ?? 'x';
      const path = route.path.replaceAll(/:(\w+)/g, idOf);
      const answer = await server.call(route.method.toUpperCase(), path, route.body ? {} : undefined);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.body).toMatchObject({ code: 'unauthenticated', detail: 'Who are you?' });
    });
  });
};

// Simulated clients: each creates threads and runs, follows, cancels and deletes them, at any node, and records the responses. The requests
// depend on a seed; the responses do not.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NoResponse, readStream, type Answer, type Caller, type RequestSpec } from './caller.ts';
import type { History, Segment } from './history.ts';
import type { Evidence } from './invariants/evidence.ts';
import type { Random } from './random.ts';

const actions = ['wait', 'stream', 'background', 'double', 'cancel', 'delete'] as const;
export type Action = (typeof actions)[number];

export interface WorkloadOptions {
  caller: Caller;
  history: History;
  random: Random;
  query: Evidence['query'];
  clients: number;
  /** The actions, each as often as it is listed; all by default. */
  actions?: readonly Action[];
  /** The longest run: steps, and milliseconds of each. */
  steps?: number;
  ms?: number;
  durability?: 'sync' | 'async' | 'exit';
  /** The file in which runs record the steps that they execute. */
  file?: string;
}

interface Plan {
  marker: string;
  steps: number;
  ms: number;
}

interface Started {
  thread_id: string;
  run_id: string;
  plan: Plan;
}

const totalMs = 60_000;
const threadsPerClient = 3;

export class Workload {
  readonly #clients: Promise<void>[];
  #stopping = false;

  constructor(options: WorkloadOptions) {
    this.#clients = Array.from({ length: options.clients }, (_, index) => {
      const client = new Client({ ...options, random: options.random.fork() }, `c${index}`);
      return client.work(() => this.#stopping);
    });
  }

  /** Starts nothing new, and waits for started requests. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#clients);
  }
}

class Client {
  readonly #options: WorkloadOptions;
  readonly #name: string;
  readonly #threads: string[] = [];
  #plans = 0;

  constructor(options: WorkloadOptions, name: string) {
    this.#options = options;
    this.#name = name;
  }

  async work(isOver: () => boolean): Promise<void> {
    const { random, history, actions: chosen = actions } = this.#options;
    while (!isOver()) {
      const action = random.pick(chosen);
      try {
        await this.#do(action);
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
        history.add({ op: 'failed', what: action, status: 0, detail: error.message });
      }
      await sleep(random.between(0, 20));
    }
  }

  async #do(action: Action): Promise<void> {
    const thread_id = await this.#thread();
    if (thread_id === undefined) return;
    switch (action) {
      case 'wait':
        return this.#wait(thread_id);
      case 'stream':
        return this.#stream(thread_id);
      case 'background':
        return this.#background(thread_id);
      case 'double':
        return this.#double(thread_id);
      case 'cancel':
        return this.#cancel(thread_id);
      case 'delete':
        return this.#delete(thread_id);
    }
  }

  async #wait(thread_id: string): Promise<void> {
    const plan = this.#plan();
    const answer = await this.#send({ ...this.#create(thread_id, '/wait', plan), tryMs: 15_000 });
    const started = answer && this.#acknowledge(thread_id, plan, answer.headers);
    if (started) this.#result(started, answer.body);
  }

  async #background(thread_id: string): Promise<void> {
    const started = await this.#start(thread_id, this.#plan());
    if (started) await this.#join(started);
  }

  async #stream(thread_id: string): Promise<void> {
    const { random, history } = this.#options;
    const plan = this.#plan();
    const segments: Segment[] = [];
    let started: Started | undefined;
    const deadline = performance.now() + totalMs;
    while (performance.now() < deadline) {
      const last = segments.flatMap(({ frames }) => frames).at(-1)?.id ?? '-1';
      const request: RequestSpec = started
        ? { method: 'GET', path: `${pathOf(started)}/stream`, headers: { 'last-event-id': last } }
        : this.#create(thread_id, '/stream', plan, {
            stream_resumable: true,
            stream_mode: ['custom', 'updates', 'values'],
          });
      const url = await this.#anyUrl();
      const segment = await readStream(url, request, {
        ...(random.next() < 0.4 ? { disconnectAfter: random.between(1, 4) } : {}),
        onOpen: ({ status, headers }) => {
          if (status === 200) started ??= this.#acknowledge(thread_id, plan, headers);
        },
      });
      if (started) segments.push({ frames: segment.frames, end: segment.end });
      if (started && segment.end === 'clean' && (await this.#isOver(started))) {
        history.add({ op: 'stream', thread_id, run_id: started.run_id, segments });
        return;
      }
      if (segment.status >= 400 && segment.status !== 503) {
        history.add({ op: 'failed', what: request.path, status: segment.status, detail: 'stream' });
        return;
      }
      await sleep(random.between(5, 100));
    }
    history.add({ op: 'failed', what: `stream of ${plan.marker}`, status: 0, detail: 'no end in time' });
  }

  /** Creates a second run during the first. */
  async #double(thread_id: string): Promise<void> {
    const { random, history } = this.#options;
    const before = await this.#checkpoints(thread_id);
    const first = await this.#start(thread_id, this.#plan());
    if (!first) return;
    const strategy = random.pick(['enqueue', 'reject', 'interrupt', 'rollback'] as const);
    await sleep(random.between(0, 60));
    const second = await this.#start(thread_id, this.#plan(), strategy);
    try {
      if (second) await this.#join(second);
    } finally {
      // Also when the second run takes too long.
      const status = await this.#settled(first);
      // The first run may have ended before the second was created.
      if (second && strategy === 'rollback' && status !== 'success' && status !== 'error')
        history.add({ op: 'rolled back', thread_id, run_id: first.run_id, before });
    }
  }

  async #cancel(thread_id: string): Promise<void> {
    const { random, history, query } = this.#options;
    const before = await this.#checkpoints(thread_id);
    const started = await this.#start(thread_id, this.#plan());
    if (!started) return;
    const { run_id } = started;
    await sleep(random.between(0, 100));
    const action = random.pick(['interrupt', 'rollback']);
    const path = `${pathOf(started)}/cancel?wait=1&action=${action}`;
    // The run may have ended.
    const answer = await this.#send({ method: 'POST', path, tryMs: 15_000 }, 404);
    // A try whose response was lost may have succeeded.
    const isDeleted = async () =>
      (await query('select 1 from runs where run_id = $1', [run_id])).length === 0;
    if (!answer && !(action === 'rollback' && (await isDeleted()))) return;
    if (action === 'rollback') history.add({ op: 'rolled back', thread_id, run_id, before });
    else {
      const [written] = await query<{ count: number }>(
        'select count(*)::integer as count from checkpoints where run_id = $1',
        [run_id],
      );
      history.add({ op: 'cancelled', thread_id, run_id, checkpoints: written?.count ?? 0 });
    }
  }

  /** Deletes a thread with a run, which has to stop first. */
  async #delete(thread_id: string): Promise<void> {
    const { history, query, caller } = this.#options;
    const started = await this.#start(thread_id, this.#plan());
    const runs = await query<{ run_id: string }>('select run_id from runs where thread_id = $1', [thread_id]);
    const { status } = await caller.call({ method: 'DELETE', path: `/threads/${thread_id}`, totalMs });
    // A try whose response was lost may have succeeded.
    if (status !== 204 && status !== 404) {
      history.add({ op: 'failed', what: 'delete', status, detail: thread_id });
      return;
    }
    this.#threads.splice(this.#threads.indexOf(thread_id), 1);
    const run_ids = new Set([...runs.map(({ run_id }) => run_id), ...(started ? [started.run_id] : [])]);
    history.add({ op: 'deleted', thread_id, run_ids: [...run_ids] });
  }

  async #thread(): Promise<string | undefined> {
    const { random, history } = this.#options;
    if (this.#threads.length >= threadsPerClient) return random.pick(this.#threads);
    const thread_id = randomUUID();
    const body = { thread_id, if_exists: 'do_nothing' };
    if (!(await this.#send({ method: 'POST', path: '/threads', body }))) return undefined;
    history.add({ op: 'thread', thread_id });
    this.#threads.push(thread_id);
    return thread_id;
  }

  async #start(thread_id: string, plan: Plan, strategy = 'enqueue'): Promise<Started | undefined> {
    const request = this.#create(thread_id, '', plan, { multitask_strategy: strategy });
    const answer = await this.#send(request, strategy === 'reject' ? 409 : undefined);
    return answer && this.#acknowledge(thread_id, plan, answer.headers, strategy);
  }

  async #join(started: Started): Promise<void> {
    const answer = await this.#options.caller.call({
      method: 'GET',
      path: `${pathOf(started)}/join`,
      tryMs: 5_000,
      totalMs,
    });
    if (answer.status === 200) this.#result(started, answer.body);
    else if (answer.status !== 404)
      this.#options.history.add({
        op: 'failed',
        what: 'join',
        status: answer.status,
        detail: started.run_id,
      });
  }

  async #isOver(started: Started): Promise<boolean> {
    const answer = await this.#options.caller.call({ method: 'GET', path: pathOf(started) });
    return !['pending', 'running'].includes((answer.body as { status: string }).status);
  }

  /** The final status of a run; undefined when it was deleted. */
  async #settled(started: Started): Promise<string | undefined> {
    const deadline = performance.now() + totalMs;
    for (;;) {
      const answer = await this.#options.caller.call({ method: 'GET', path: pathOf(started) });
      if (answer.status === 404) return undefined;
      const { status } = answer.body as { status: string };
      if (!['pending', 'running'].includes(status) || performance.now() > deadline) return status;
      await sleep(50);
    }
  }

  async #checkpoints(thread_id: string): Promise<string[]> {
    const rows = await this.#options.query<{ checkpoint_id: string }>(
      'select checkpoint_id from checkpoints where thread_id = $1',
      [thread_id],
    );
    return rows.map((row) => row.checkpoint_id);
  }

  #plan(): Plan {
    const { random, steps = 4, ms = 40 } = this.#options;
    this.#plans += 1;
    return {
      marker: `${this.#name}-${this.#plans}`,
      steps: random.between(1, steps),
      ms: random.between(0, ms),
    };
  }

  /** Idempotent: the key makes all tries create one run. */
  #create(thread_id: string, kind: string, plan: Plan, more: object = {}): RequestSpec {
    const { durability = 'async', file } = this.#options;
    const body = {
      assistant_id: 'journal',
      input: { ...plan, taken: 0, ...(file ? { file } : {}) },
      metadata: { marker: plan.marker, steps: plan.steps },
      config: { recursion_limit: 1_000 },
      durability,
      ...more,
    };
    const headers = { 'idempotency-key': plan.marker };
    return { method: 'POST', path: `/threads/${thread_id}/runs${kind}`, body, headers };
  }

  /** Returns a successful response; other responses are recorded: as rejected when the status is `refusal`, else as failed. */
  async #send(request: RequestSpec, expectedStatus?: number): Promise<Answer | undefined> {
    const answer = await this.#options.caller.call({ totalMs, ...request });
    if (answer.status < 300) return answer;
    const { code, message } = answer.body as { code: string; message: string };
    const what = `${request.method} ${request.path}`;
    this.#options.history.add(
      answer.status === expectedStatus
        ? { op: 'refused', what, status: answer.status, code }
        : { op: 'failed', what, status: answer.status, detail: message },
    );
    return undefined;
  }

  #acknowledge(thread_id: string, plan: Plan, headers: Headers, strategy = 'enqueue'): Started | undefined {
    const run_id = /\/runs\/([0-9a-f-]{36})/.exec(headers.get('content-location') ?? '')?.[1];
    if (run_id === undefined) throw new Error('An acknowledged run has no Content-Location');
    const { marker, steps } = plan;
    this.#options.history.add({ op: 'run', thread_id, run_id, marker, steps, strategy });
    return { thread_id, run_id, plan };
  }

  #result({ thread_id, run_id, plan: { marker } }: Started, body: unknown): void {
    const { log = [], __error__ } = (body ?? {}) as { log?: string[]; __error__?: { message: string } };
    this.#options.history.add({
      op: 'result',
      thread_id,
      run_id,
      marker,
      ...(__error__ ? { error: __error__.message } : { log }),
    });
  }

  async #anyUrl(): Promise<string> {
    for (;;) {
      const url = this.#options.caller.anyUrl();
      if (url !== undefined) return url;
      await sleep(50);
    }
  }
}

const pathOf = ({ thread_id, run_id }: Started): string => `/threads/${thread_id}/runs/${run_id}`;

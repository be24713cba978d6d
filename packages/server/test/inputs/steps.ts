// Runs of the graph `steps`, whose steps end when a test opens their gates.
import { type Client, createClient } from '@svc/sdk';
import type { Run } from '@svc/contract';
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';

type Answer = { status: number; body: unknown };
type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

export interface StepValues {
  seen: string[];
  note?: string;
  messages?: { type: string; content: unknown; id: string }[];
}

export const human = (content: string) => ({ messages: [{ role: 'user', content }] });

/** A thread of the graph, and the run that executes on it. */
export class Steps {
  readonly client: Client;
  readonly thread_id = randomUUID();
  readonly #call: Call;

  constructor(server: { url: string; call: Call }) {
    this.client = createClient({ apiUrl: server.url });
    this.#call = (...given) => server.call(...given);
  }

  async start(plan: string[], options: object = {}): Promise<Run> {
    const input = { plan, at: 0, ...human('hi') };
    return this.client.runs.create(this.thread_id, 'steps', { input, if_not_exists: 'create', ...options });
  }

  /** Sends an input into a run. */
  send(run_id: string, input: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#call('POST', `/threads/${this.thread_id}/runs/${run_id}/input`, { input }, headers);
  }

  async sent(run_id: string, input: unknown): Promise<Run> {
    const { status, body } = await this.send(run_id, input);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as Run;
  }

  /** How often a step has begun. */
  async begun(step: string): Promise<number> {
    const { status, body } = await this.#call(
      'GET',
      `/store/items?key=${step}&namespace=begun&namespace=${this.thread_id}`,
    );
    return status === 404 ? 0 : (body as { value: { times: number } }).value.times;
  }

  async untilBegun(step: string): Promise<void> {
    await eventually(async () => expect(await this.begun(step)).toBeGreaterThan(0));
  }

  async open(...steps: string[]): Promise<void> {
    for (const key of steps) await this.client.store.put(['open', this.thread_id], key, { open: true });
  }

  run(run_id: string): Promise<Run> {
    return this.client.runs.get(this.thread_id, run_id);
  }

  async ended(run_id: string): Promise<Run> {
    return eventually(async () => {
      const run = await this.run(run_id);
      expect(run.ended_at).toBeDefined();
      return run;
    });
  }

  async values(): Promise<StepValues> {
    const { values } = await this.client.threads.getState(this.thread_id);
    return values as unknown as StepValues;
  }

  async texts(): Promise<string[]> {
    return ((await this.values()).messages ?? []).map(({ content }) => String(content));
  }
}

// Crons: schedules that make runs. What its runs are is checked when a cron is made, as a run's own request would be.
import { randomUUID } from 'node:crypto';
import { RunCreate, type Cron, type CronCreate, type CronPatch } from '@svc/contract';
import { notFound, Problem } from '@svc/contract/problem';
import {
  cronLimits,
  type CronFilter,
  type CronPage,
  type CronRow,
  type TickPlan,
} from '../../storage/crons.ts';
import type { Storage } from '../../storage/storage.ts';
import { assistantIdOf } from '../assistants/default-assistant.ts';
import { toRunRequest } from '../runs/run-request.ts';
import type { WebhookService } from '../webhooks/webhook-service.ts';
import { firstTick, nextTick } from './cron-schedule.ts';

/** Of a cron's body, what is not about its runs. */
const own = new Set([
  'assistant_id',
  'schedule',
  'timezone',
  'end_time',
  'enabled',
  'metadata',
  'on_run_completed',
]);

export class CronService {
  readonly #storage: Pick<Storage, 'crons' | 'assistants' | 'threads'>;

  readonly #webhooks: Pick<WebhookService, 'accept'>;

  constructor(
    storage: Pick<Storage, 'crons' | 'assistants' | 'threads'>,
    webhooks: Pick<WebhookService, 'accept'>,
  ) {
    this.#storage = storage;
    this.#webhooks = webhooks;
  }

  async create(thread_id: string | null, body: CronCreate): Promise<Cron> {
    const assistant_id = assistantIdOf(body.assistant_id);
    const [assistant, thread, now] = await Promise.all([
      this.#storage.assistants.find(assistant_id),
      thread_id === null ? undefined : this.#storage.threads.find(thread_id),
      this.#storage.crons.now(),
    ]);
    if (thread_id !== null && !thread) throw notFound('Thread', thread_id);
    if (!assistant) throw notFound('Assistant', body.assistant_id);
    const payload = payloadOf(body);
    this.#check(assistant_id, payload);
    const times = {
      schedule: body.schedule,
      timezone: body.timezone ?? null,
      end_time: body.end_time ?? null,
    };
    const row = await this.#storage.crons.create({
      cron_id: randomUUID(),
      assistant_id,
      thread_id,
      on_run_completed: body.on_run_completed ?? 'delete',
      ...times,
      enabled: body.enabled ?? true,
      payload: JSON.stringify(payload),
      metadata: body.metadata ?? {},
      next_run_date: firstTick(times, now),
    });
    if (row) return toCron(row);
    throw new Problem(
      'conflict',
      `There may be ${cronLimits.perThread} crons on a thread and ${cronLimits.total} in all: delete some first`,
    );
  }

  async get(cron_id: string): Promise<Cron> {
    const row = await this.#storage.crons.find(cron_id);
    if (!row) throw notFound('Cron', cron_id);
    return toCron(row);
  }

  /** Metadata is merged; of the runs' options, those given replace what was. */
  async update(cron_id: string, body: CronPatch): Promise<Cron> {
    const now = await this.#storage.crons.now();
    const row = await this.#storage.crons.update(cron_id, (cron) => {
      const payload = { ...(JSON.parse(cron.payload) as object), ...payloadOf(body) };
      this.#check(cron.assistant_id, payload);
      const times = {
        schedule: body.schedule ?? cron.schedule,
        timezone: body.timezone === undefined ? cron.timezone : body.timezone,
        end_time: body.end_time === undefined ? cron.end_time : body.end_time,
      };
      const enabled = body.enabled ?? cron.enabled;
      const isSame =
        enabled === cron.enabled &&
        times.schedule === cron.schedule &&
        times.timezone === cron.timezone &&
        times.end_time === cron.end_time;
      return {
        ...cron,
        ...times,
        enabled,
        payload: JSON.stringify(payload),
        metadata: { ...cron.metadata, ...body.metadata },
        on_run_completed: body.on_run_completed ?? cron.on_run_completed,
        next_run_date: isSame ? cron.next_run_date : firstTick(times, now),
      };
    });
    if (!row) throw notFound('Cron', cron_id);
    return toCron(row);
  }

  async delete(cron_id: string): Promise<void> {
    if (!(await this.#storage.crons.delete(cron_id))) throw notFound('Cron', cron_id);
  }

  async search(filter: CronFilter, page: CronPage): Promise<{ crons: Cron[]; total: number }> {
    const known = withAssistantId(filter);
    const [rows, total] = await Promise.all([
      this.#storage.crons.search(known, page),
      this.#storage.crons.count(known),
    ]);
    return { crons: rows.map(toCron), total };
  }

  count(filter: CronFilter): Promise<number> {
    return this.#storage.crons.count(withAssistantId(filter));
  }

  /** Throws invalid for options that no run could have. */
  #check(assistant_id: string, payload: object): void {
    const { webhook } = requestOf(assistant_id, payload);
    if (webhook !== null) this.#webhooks.accept(webhook);
  }
}

/** The run of a tick that is due, and when the next one is: the first after now, so that ticks which were missed are not made up for. */
export const planTick = (cron: CronRow, now: string): TickPlan => {
  const { kwargs, multitask_strategy, webhook } = requestOf(
    cron.assistant_id,
    JSON.parse(cron.payload) as object,
  );
  return {
    run: {
      run_id: randomUUID(),
      thread_id: cron.thread_id ?? (cron.on_run_completed === 'keep' ? randomUUID() : null),
      metadata: { ...cron.metadata, cron_id: cron.cron_id },
      kwargs: JSON.stringify(kwargs),
      multitask_strategy,
      webhook,
      resumable: kwargs.stream_resumable === true,
    },
    next: nextTick(cron, now),
  };
};

const requestOf = (assistant_id: string, payload: object) =>
  toRunRequest(RunCreate.parse({ ...payload, assistant_id }));

const payloadOf = (body: CronCreate | CronPatch): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([key, value]) => !own.has(key) && value !== undefined));

const withAssistantId = (filter: CronFilter): CronFilter =>
  filter.assistant_id === undefined
    ? filter
    : { ...filter, assistant_id: assistantIdOf(filter.assistant_id) };

const toCron = ({ payload, ...row }: CronRow): Cron =>
  ({ ...row, payload: JSON.parse(payload) as Record<string, unknown>, user_id: null }) as Cron;

// Crons: schedules that create runs. The options of the runs are validated when the cron is created, as in a request for a run.
import { randomUUID } from 'node:crypto';
import { RunCreate, type Cron, type CronCreate, type CronPatch } from '@svc/contract';
import { notFound, Problem } from '@svc/contract/problem';
import {
  cronLimits,
  type CronFilter,
  type CronLimit,
  type CronPage,
  type CronRow,
  type ListedCron,
  type TickPlan,
} from '../../storage/deployment/crons.ts';
import { rowText } from '../../api/json-text.ts';
import type { PageOf } from '../../api/pagination.ts';
import { ownerKey } from '../../auth/authorization/authorizer.ts';
import type { User } from '../../auth/principal/caller.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import type { RunUsers } from '../../auth/sealed-users/run-users.ts';
import { outOfReach } from '../out-of-reach.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { assistantIdOf } from '../assistants/default-assistant.ts';
import { toRunRequest } from '../runs/run-request.ts';
import { ownWebhookUrl } from '../webhooks/own-webhook.ts';
import type { WebhookService } from '../webhooks/webhook-service.ts';
import { firstTick, nextTick } from './cron-schedule.ts';

/** Fields of a cron's body that are not options of its runs. */
const own = new Set([
  'assistant_id',
  'schedule',
  'timezone',
  'end_time',
  'enabled',
  'metadata',
  'on_run_completed',
]);

/** The result of the authorization. Runs are created later, without another authorization. */
export interface CronGrant {
  cron_id: string;
  assistant: RowFilter;
  thread: RowFilter;
  user: User | undefined;
}

export class CronService {
  readonly #storage: Pick<Storage, 'crons' | 'assistants' | 'threads'>;

  readonly #webhooks: Pick<WebhookService, 'accept'>;
  readonly #users: Pick<RunUsers, 'seal'>;

  constructor(
    storage: Pick<Storage, 'crons' | 'assistants' | 'threads'>,
    webhooks: Pick<WebhookService, 'accept'>,
    users: Pick<RunUsers, 'seal'>,
  ) {
    this.#storage = storage;
    this.#webhooks = webhooks;
    this.#users = users;
  }

  async create(thread_id: string | null, body: CronCreate, grant: CronGrant): Promise<Cron> {
    const assistant_id = assistantIdOf(body.assistant_id);
    const { crons } = this.#storage;
    const [now] = await Promise.all([
      crons.now(),
      this.assertUsable({ thread_id, assistant_id: body.assistant_id }, grant),
    ]);
    const payload = payloadOf(body);
    this.#check(assistant_id, payload);
    const times = {
      schedule: body.schedule,
      timezone: body.timezone ?? null,
      end_time: body.end_time ?? null,
    };
    const cron = {
      cron_id: grant.cron_id,
      assistant_id,
      thread_id,
      on_run_completed: body.on_run_completed ?? 'delete',
      ...times,
      enabled: body.enabled ?? true,
      payload: JSON.stringify(payload),
      metadata: body.metadata ?? {},
      next_run_date: firstTick(times, now),
      sealed_user: this.#users.seal(grant.user),
    };
    const create = () => crons.create(cron, { ...grant, user_id: grant.user?.identity ?? null });
    let row = await create();
    if (!row) {
      // The thread or assistant may have been deleted meanwhile, or deleted and created again.
      await this.assertUsable({ thread_id, assistant_id: body.assistant_id }, grant);
      row = await create();
    }
    if (!row) throw new Problem('conflict', 'The thread or the assistant was deleted meanwhile');
    if (typeof row !== 'string') return toCron(row);
    throw new Problem(
      'conflict',
      `${holderOf[row]} has ${cronLimits[row]} crons, which is the limit. Delete some first`,
    );
  }

  /** Throws `not_found` when the cron's runs may not use the thread or the assistant. */
  async assertUsable(
    of: Pick<CronRow, 'thread_id' | 'assistant_id'>,
    grant: Pick<CronGrant, 'assistant' | 'thread'>,
  ): Promise<void> {
    const { assistants, threads } = this.#storage;
    const [assistant, thread] = await Promise.all([
      assistants.find(assistantIdOf(of.assistant_id), grant.assistant),
      of.thread_id === null ? undefined : threads.find(of.thread_id, grant.thread),
    ]);
    if (of.thread_id !== null && !thread) throw notFound('Thread', of.thread_id);
    if (!assistant) throw notFound('Assistant', of.assistant_id);
  }

  async get(cron_id: string, access: RowFilter): Promise<Cron> {
    const row = await this.#storage.crons.find(cron_id, access);
    if (!row) throw notFound('Cron', cron_id);
    return toCron(row);
  }

  /** Merges metadata; given options of the runs replace the current ones. */
  async update(cron_id: string, body: CronPatch, access: AccessFilter): Promise<Cron> {
    const now = await this.#storage.crons.now();
    const row = await this.#storage.crons.update(cron_id, access, (cron) => {
      const payload = { ...(JSON.parse(cron.payload) as object), ...payloadOf(body) };
      this.#check(cron.assistant_id, payload);
      const metadata = { ...cron.metadata, ...body.metadata };
      if (!access.matches(metadata)) throw outOfReach('cron');
      return { ...cron, ...timesOf(cron, body, now), payload: JSON.stringify(payload), metadata };
    });
    if (!row) throw notFound('Cron', cron_id);
    return toCron(row);
  }

  async delete(cron_id: string, access: RowFilter): Promise<void> {
    if (!(await this.#storage.crons.delete(cron_id, access))) throw notFound('Cron', cron_id);
  }

  /** JSON texts. `select`: the requested fields. */
  async search(
    filter: CronFilter,
    page: CronPage,
    access: RowFilter,
    select?: readonly string[],
  ): Promise<{ page: PageOf<string>; total: number }> {
    const known = withAssistantId(filter);
    const [{ rows, ...more }, total] = await Promise.all([
      this.#storage.crons.search(known, page, access, select),
      this.#storage.crons.count(known, access),
    ]);
    return { page: { rows: rows.map((row) => cronText(row, select)), ...more }, total };
  }

  count(filter: CronFilter, access: RowFilter): Promise<number> {
    return this.#storage.crons.count(withAssistantId(filter), access);
  }

  /** Throws `invalid` for options that a run cannot have. */
  #check(assistant_id: string, payload: object): void {
    const { webhook } = requestOf(assistant_id, payload);
    if (webhook !== null) this.#webhooks.accept(webhook);
  }
}

const holderOf: Record<CronLimit, string> = {
  thread: 'The thread',
  user: 'Your user',
  server: 'The server',
};

/** The times of a changed cron. When no time has changed, the next tick stays. */
const timesOf = (cron: CronRow, body: CronPatch, now: string) => {
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
    ...times,
    enabled,
    on_run_completed: body.on_run_completed ?? cron.on_run_completed,
    next_run_date: isSame ? cron.next_run_date : firstTick(times, now),
  };
};

/** The run of a due tick, and the next tick: the first one after now, so that missed ticks are not repeated. */
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
      // Accepted when the cron was created or changed.
      webhook: webhook === null ? null : (ownWebhookUrl(webhook) ?? webhook),
      resumable: kwargs.stream_resumable === true,
      sealed_user: cron.sealed_user,
    },
    next: nextTick(cron, now),
  };
};

/** The request body of such a run. Throws for invalid options. */
export const runOf = (assistant_id: string, payload: object): RunCreate =>
  RunCreate.parse({ ...payload, assistant_id });

const requestOf = (assistant_id: string, payload: object) => toRunRequest(runOf(assistant_id, payload));

/** The options of the runs in a cron's body. */
export const payloadOf = (body: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([key, value]) => !own.has(key) && value !== undefined));

const withAssistantId = (filter: CronFilter): CronFilter =>
  filter.assistant_id === undefined
    ? filter
    : { ...filter, assistant_id: assistantIdOf(filter.assistant_id) };

const cronText = (row: ListedCron, select: readonly string[] | undefined): string => {
  const metadata = JSON.parse(row.metadata ?? '{}') as Record<string, unknown>;
  const cron = { ...row, sealed_user: undefined, user_id: metadata[ownerKey] ?? null };
  return rowText(cron, ['payload', 'metadata'], select);
};

const toCron = (row: CronRow): Cron => {
  const { sealed_user: _, payload, ...cron } = row;
  const user_id = row.metadata[ownerKey] ?? null;
  return { ...cron, payload: JSON.parse(payload) as Record<string, unknown>, user_id } as Cron;
};

import { randomUUID } from 'node:crypto';
import { CronCreate, CronPatch, type Cron, type cronRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Access } from '../../access/access.ts';
import type { Handlers } from '../handlers.ts';
import { paginated } from '../pagination.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import { payloadOf, runOf, type CronService } from './cron-service.ts';

const pick = (cron: Cron, fields: readonly string[] | undefined): Cron =>
  (fields ? Object.fromEntries(Object.entries(cron).filter(([key]) => fields.includes(key))) : cron) as Cron;

export const cronHandlers = (crons: CronService, granter: RunGranter): Handlers<typeof cronRoutes> => {
  /** A cron may be made by who may make it, and its runs: these are made when nobody is there to be asked. */
  const create = async (thread_id: string | null, body: CronCreate, access: Access): Promise<Cron> => {
    const { user } = access;
    const { assistant_id, schedule, end_time, metadata } = body;
    const { value } = await access.ask('crons:create', {
      cron_id: randomUUID(),
      thread_id: thread_id ?? undefined,
      assistant_id,
      schedule,
      end_time,
      user_id: user?.identity,
      metadata,
      payload: payloadOf(body),
    });
    const { cron_id = randomUUID(), user_id: _, thread_id: _thread, payload, ...changed } = value;
    const cron = user === undefined ? body : CronCreate.parse({ ...body, ...payload, ...changed });
    const run = { ...runOf(cron.assistant_id, payloadOf(cron)), metadata: cron.metadata };
    const { body: granted, grant } = await granter.grant(access, thread_id, run);
    const owned = { ...cron, ...payloadOf(granted), metadata: granted.metadata };
    if (thread_id === null && !grant.access.matches({ ...owned.metadata, cron_id }))
      throw new Problem(
        'forbidden',
        'The auth handler for threads:create_run returned a filter that the runs of this cron would not pass: it must set the metadata that it filters by.',
      );
    return crons.create(thread_id, owned, {
      cron_id,
      assistant: grant.assistantAccess,
      thread: grant.access,
      user,
    });
  };
  return {
    createCron: ({ body }, { access }) => create(null, body, access),
    createThreadCron: ({ params, body }, { access }) => create(params.thread_id, body, access),
    searchCrons: async ({ body }, { access }) => {
      const { select, sort_by, sort_order, enabled, ...asked } = body;
      const { value, filter } = await access.ask('crons:search', asked);
      const { limit, offset, ...wanted } = value;
      const page = { limit, offset, sort_by, sort_order } as const;
      const found = await crons.search({ ...wanted, enabled }, page, filter);
      return paginated(
        found.crons.map((cron) => pick(cron, select)),
        found.total,
        page,
      );
    },
    countCrons: async ({ body }, { access }) => {
      const { enabled, ...asked } = body;
      const { value, filter } = await access.ask('crons:search', { ...asked, limit: 0, offset: 0 });
      const { limit: _, offset: _offset, ...wanted } = value;
      return crons.count({ ...wanted, enabled }, filter);
    },
    getCron: async ({ params }, { access }) => {
      const { filter } = await access.ask('crons:read', params);
      return crons.get(params.cron_id, filter);
    },
    updateCron: async ({ params, body }, { access }) => {
      const { schedule, metadata } = body;
      const { value, filter } = await access.ask('crons:update', {
        ...params,
        schedule,
        metadata,
        payload: payloadOf(body),
      });
      const { cron_id: _, payload, ...changed } = value;
      const patch = access.user === undefined ? body : CronPatch.parse({ ...body, ...payload, ...changed });
      return crons.update(params.cron_id, patch, filter);
    },
    deleteCron: async ({ params }, { access }) => {
      const { filter } = await access.ask('crons:delete', params);
      await crons.delete(params.cron_id, filter);
    },
  };
};

import { CronPatch, type Cron, type CronCreate, type cronRoutes } from '@svc/contract';
import type { Access } from '../../auth/authorization/authorizer.ts';
import { checked } from '../../auth/handlers/changed-request.ts';
import type { Handlers } from '../../api/handlers.ts';
import { textPage } from '../../api/pagination.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import { CronGranter } from './cron-grant.ts';
import { payloadOf, type CronService } from './cron-service.ts';

export const cronHandlers = (crons: CronService, granter: RunGranter): Handlers<typeof cronRoutes> => {
  const grants = new CronGranter(crons, granter);
  const create = async (thread_id: string | null, asked: CronCreate, access: Access): Promise<Cron> => {
    const { body, grant } = await grants.grant(thread_id, asked, access);
    return crons.create(thread_id, body, grant);
  };
  return {
    createCron: ({ body }, { access }) => create(null, body, access),
    createThreadCron: ({ params, body }, { access }) => create(params.thread_id, body, access),
    searchCrons: async ({ body }, { access }) => {
      const { select, sort_by, sort_order, enabled, ...asked } = body;
      const { value, filter } = await access.ask('crons:search', asked);
      const { limit, offset, ...wanted } = value;
      const page = { limit, offset, sort_by, sort_order } as const;
      const found = await crons.search({ ...wanted, enabled }, page, filter, select);
      return textPage(found.page, offset, found.total);
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
      if (access.user === undefined) return crons.update(params.cron_id, body, filter);
      const patch = checked('crons:update', CronPatch, { ...body, ...payload, ...changed });
      return crons.update(
        params.cron_id,
        await grants.regrant(params.cron_id, patch, access, filter),
        filter,
      );
    },
    deleteCron: async ({ params }, { access }) => {
      const { filter } = await access.ask('crons:delete', params);
      await crons.delete(params.cron_id, filter);
    },
  };
};

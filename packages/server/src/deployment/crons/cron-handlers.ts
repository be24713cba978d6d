import { CronPatch, type Cron, type CronCreate, type cronRoutes } from '@svc/contract';
import { type Authorizer, checked } from '../../auth/authorization/authorizer.ts';
import type { Handlers } from '../../api/handlers.ts';
import { textPage } from '../../api/pagination.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import { CronGranter } from './cron-grant.ts';
import { payloadOf, type CronService } from './cron-service.ts';

export const cronHandlers = (crons: CronService, granter: RunGranter): Handlers<typeof cronRoutes> => {
  const grants = new CronGranter(crons, granter);
  const create = async (
    thread_id: string | null,
    requested: CronCreate,
    authorizer: Authorizer,
  ): Promise<Cron> => {
    const { body, grant } = await grants.grant(thread_id, requested, authorizer);
    return crons.create(thread_id, body, grant);
  };
  return {
    createCron: ({ body }, { authorizer }) => create(null, body, authorizer),
    createThreadCron: ({ params, body }, { authorizer }) => create(params.thread_id, body, authorizer),
    searchCrons: async ({ body }, { authorizer }) => {
      const { select, sort_by, sort_order, enabled, ...requested } = body;
      const { value, access } = await authorizer.authorize('crons:search', requested);
      const { limit, offset, ...wanted } = value;
      const page = { limit, offset, sort_by, sort_order } as const;
      const found = await crons.search({ ...wanted, enabled }, page, access, select);
      return textPage(found.page, offset, found.total);
    },
    countCrons: async ({ body }, { authorizer }) => {
      const { enabled, ...requested } = body;
      const { value, access } = await authorizer.authorize('crons:search', {
        ...requested,
        limit: 0,
        offset: 0,
      });
      const { limit: _, offset: _offset, ...wanted } = value;
      return crons.count({ ...wanted, enabled }, access);
    },
    getCron: async ({ params }, { authorizer }) => {
      const { access } = await authorizer.authorize('crons:read', params);
      return crons.get(params.cron_id, access);
    },
    updateCron: async ({ params, body }, { authorizer }) => {
      const { schedule, metadata } = body;
      const { value, access } = await authorizer.authorize('crons:update', {
        ...params,
        schedule,
        metadata,
        payload: payloadOf(body),
      });
      const { cron_id: _, payload, ...changed } = value;
      if (authorizer.user === undefined) return crons.update(params.cron_id, body, access);
      const patch = checked('crons:update', CronPatch, { ...body, ...payload, ...changed });
      return crons.update(
        params.cron_id,
        await grants.regrant(params.cron_id, patch, authorizer, access),
        access,
      );
    },
    deleteCron: async ({ params }, { authorizer }) => {
      const { access } = await authorizer.authorize('crons:delete', params);
      await crons.delete(params.cron_id, access);
    },
  };
};

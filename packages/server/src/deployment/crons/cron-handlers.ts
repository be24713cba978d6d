import type { Cron, cronRoutes } from '@svc/contract';
import type { Handlers } from '../handlers.ts';
import { paginated } from '../pagination.ts';
import type { CronService } from './cron-service.ts';

const pick = (cron: Cron, fields: readonly string[] | undefined): Cron =>
  (fields ? Object.fromEntries(Object.entries(cron).filter(([key]) => fields.includes(key))) : cron) as Cron;

export const cronHandlers = (crons: CronService): Handlers<typeof cronRoutes> => ({
  createCron: ({ body }) => crons.create(null, body),
  createThreadCron: ({ params, body }) => crons.create(params.thread_id, body),
  searchCrons: async ({ body }) => {
    const { select, limit, offset, sort_by, sort_order, ...filter } = body;
    const page = { limit, offset, sort_by, sort_order } as const;
    const found = await crons.search(filter, page);
    return paginated(
      found.crons.map((cron) => pick(cron, select)),
      found.total,
      page,
    );
  },
  countCrons: ({ body }) => crons.count(body),
  getCron: ({ params }) => crons.get(params.cron_id),
  updateCron: ({ params, body }) => crons.update(params.cron_id, body),
  deleteCron: async ({ params }) => {
    await crons.delete(params.cron_id);
  },
});

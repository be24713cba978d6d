import type { jobRoutes } from '@svc/contract';
import { type Handlers, Reply } from '../../api/handlers.ts';
import type { JobService } from './job-service.ts';

export const jobHandlers = (jobs: JobService): Handlers<typeof jobRoutes> => ({
  createJob: ({ body }, { authorizer }) => jobs.create(body, authorizer),
  listJobs: async ({ query }, { authorizer }) => {
    const { limit, offset } = query;
    const found = await jobs.list(authorizer.user, { limit: limit + 1, offset });
    const next = found.length > limit ? offset + limit : undefined;
    return new Reply(found.slice(0, limit), { next });
  },
  getJob: ({ params }, { authorizer }) => jobs.get(params.job_id, authorizer.user),
  listJobRows: async ({ params, query }, { authorizer }) => {
    const { limit, ...page } = query;
    const found = await jobs.listRows(params.job_id, authorizer.user, {
      ...page,
      limit: limit + 1,
    });
    const rows = found.slice(0, limit);
    return new Reply(rows, { next: found.length > limit ? rows.at(-1)?.position : undefined });
  },
  startJob: ({ params }, { authorizer }) => jobs.start(params.job_id, authorizer.user),
  cancelJob: ({ params }, { authorizer }) => jobs.cancel(params.job_id, authorizer.user),
});

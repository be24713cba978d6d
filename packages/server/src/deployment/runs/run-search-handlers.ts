// Runs across threads.
import type { runFigureRoutes, runSearchRoutes } from '@svc/contract';
import { RawJson, Reply, type Handlers } from '../../api/handlers.ts';
import { readAccess } from '../threads/read-access.ts';
import type { RunFigureService } from './run-figure-service.ts';
import type { RunSearchService } from './run-search-service.ts';

export interface RunSearchParts {
  searches: RunSearchService;
  figures: RunFigureService;
}

const listOf = <T extends string>(one: T | T[] | undefined): T[] | undefined =>
  typeof one === 'string' ? [one] : one;

export const runSearchHandlers = ({
  searches,
  figures,
}: RunSearchParts): Handlers<typeof runSearchRoutes & typeof runFigureRoutes> => ({
  searchRuns: async ({ body }, { authorizer }) => {
    const { status, ...rest } = body;
    const access = await readAccess(authorizer, { thread_id: body.thread_id, run_id: body.run_id });
    const { rows, next, limitedBy } = await searches.search({ ...rest, status: listOf(status) }, access);
    return new Reply(RawJson.list(rows), { next: next ?? undefined, limitedBy });
  },
  getRunFigures: async ({ body }, { authorizer }) => {
    const { status, ...rest } = body;
    const access = await readAccess(authorizer, { thread_id: body.thread_id });
    return figures.read({ ...rest, status: listOf(status) }, access);
  },
});

// The checks of this node's readiness.
import { Problem } from '@svc/contract/problem';
import { Readiness } from '../deployment/system/readiness.ts';
import type { Dispatcher } from '../engine/dispatch/dispatcher.ts';
import type { Database } from '../storage/postgres/database.ts';
import { checkSchema } from '../storage/schema/migrate.ts';
import { readSchemaFiles } from '../storage/schema/sql-files.ts';
import type { Storage } from '../storage/storage.ts';
import { nodeTtlMs } from '../storage/deployment/workers.ts';

export const createReadiness = (
  { database, databaseFailure }: { database: Database; databaseFailure: () => string | undefined },
  storage: Storage,
  dispatcher: Dispatcher,
): Readiness => {
  const schemaFiles = readSchemaFiles();
  return new Readiness({
    isDraining: () => dispatcher.isDraining,
    async checkDatabase() {
      const failure = databaseFailure();
      if (failure !== undefined) throw new Problem('unavailable', failure);
      await storage.health.check();
    },
    checkExecutors() {
      const { loaded, blocked, failedGraphs } = dispatcher.pool;
      if (loaded === 0)
        throw new Problem('unavailable', 'No executor can run a graph yet: graphs are being loaded');
      if (blocked === loaded)
        throw new Problem(
          'unavailable',
          `No executor can run a graph: the event loop of each (${loaded}) is blocked by a graph`,
        );
      if (failedGraphs.length > 0 && failedGraphs.length === dispatcher.graphs.length)
        throw new Problem(
          'unavailable',
          `No graph can be loaded (${failedGraphs.join(', ')}): the log has the reasons`,
        );
    },
    failures: () => {
      const { blocked, failedGraphs, isStoreIndexFailed } = dispatcher.pool;
      return {
        ...(blocked > 0 && { blocked_executors: blocked }),
        ...(failedGraphs.length > 0 && { failed_graphs: failedGraphs }),
        ...(isStoreIndexFailed && { failed_store_index: true }),
      };
    },
    checkSchema: () => checkSchema(database, schemaFiles),
    queue: () => storage.workers.queue(nodeTtlMs(dispatcher.leaseMs)),
  });
};

// A cluster of two servers that answer requests and two that execute runs, with a PostgreSQL of its own.
import { owning } from '../../src/app/owned.ts';
import { Cluster } from './cluster.ts';
import { startPostgres, type FaultyPostgres } from './postgres.ts';

export const apis = { api1: { role: 'api' }, api2: { role: 'api' } } as const;
export const workers = { worker1: { role: 'worker' }, worker2: { role: 'worker' } } as const;

export interface SplitCluster extends AsyncDisposable {
  postgres: FaultyPostgres;
  /** Nodes that a scenario kills are restarted at its end. */
  cluster: Cluster;
}

export const openSplitCluster = (): Promise<SplitCluster> =>
  owning(async (owned) => {
    const postgres = owned.keep(await startPostgres());
    return { postgres, cluster: owned.keep(await Cluster.open(postgres, { ...apis, ...workers })) };
  });

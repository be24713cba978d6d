// svc assistants prune: lists or deletes the default assistants of graphs that no server executes.
import { printable } from '../server-address.ts';
import { loadStored } from '../stored.ts';
import type { ConfigSources } from '../../config/config.ts';
import { ConfigError } from '../../config/project/mistake.ts';

export interface PruneOptions {
  /** If false, the command prints the assistants that it would delete. */
  delete: boolean;
  /** Only assistants of these graphs. */
  graphs: string[] | undefined;
}

export async function pruneAssistants(sources: ConfigSources, options: PruneOptions): Promise<void> {
  const { settings, project } = loadStored(sources);
  const { withDatabase } = await import('../../app/stored-data.ts');
  const { AssistantPruner } = await import('../../deployment/assistants/assistant-pruner.ts');
  await withDatabase(settings, async (storage) => {
    const pruner = new AssistantPruner(storage, [...(project?.graphs.keys() ?? [])]);
    const found = await pruner.preview(options.graphs);
    if (found.length === 0) return console.log('There is nothing to delete.');
    for (const { assistant_id, graph_id, crons, runs, in_flight } of found) {
      const blocked = in_flight > 0 ? `, ${in_flight} pending or running runs: cancel them first` : '';
      console.log(`${assistant_id}  ${printable(graph_id)}  ${crons} crons, ${runs} ended runs${blocked}`);
    }
    if (!options.delete)
      return console.log('Nothing was deleted. --delete deletes them, with their crons and runs.');
    if (options.graphs === undefined && !(await pruner.hasWorkers())) throw noWorkers();
    for (const { assistant_id } of found) {
      const outcome = await pruner.prune(assistant_id);
      console.log(`${assistant_id}  ${outcomes[outcome]}`);
    }
  });
}

const outcomes = {
  deleted: 'deleted',
  missing: 'not found: it has just been deleted',
  served: 'kept: a server executes the graph',
  in_flight: 'kept: runs are pending or running',
};

const noWorkers = (): ConfigError =>
  new ConfigError({
    where: '--graph',
    problem: 'is missing: no server is running, so no graph counts as executed',
    remedy: 'Start the servers first, or name the graphs whose default assistants are to be deleted.',
  });

// The parts of a server that start while its modules are loaded: PostgreSQL, and the processes of its executors.
import { exposeEnvironment } from '../config/environment.ts';
import { findTsconfig } from '../config/project/tsconfig.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';
import { nodeProcesses } from './node-processes.ts';
import { executorProgram } from '../engine/dispatch/executor-process.ts';
import { StandbyProcesses } from '../jobs/standby-processes.ts';
import { type Connection, openConnection } from '../storage/postgres/connection.ts';
import { type NodeProcesses, wantedConnections } from '../storage/postgres/connection-plan.ts';
import type { Owned } from './owned.ts';

export interface EarlyParts {
  node: NodeProcesses;
  /** Rejects when the database cannot be opened, and when the start is cancelled. */
  connection: Promise<Connection>;
  executors: StandbyProcesses;
}

/** When the start fails, closing `owned` cancels what has not started yet, and closes the rest. */
export const startEarlyParts = (
  { settings, project, signal }: { settings: Settings; project: SvcJson; signal?: AbortSignal },
  owned: Owned,
): EarlyParts => {
  const node = nodeProcesses(settings);
  const closing = new AbortController();
  const connection = openConnection(settings.storage, {
    connections: wantedConnections(node),
    signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
  });
  const opened = connection.catch(() => undefined); // the caller awaits `connection` itself
  owned.keep({
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await (await opened)?.[Symbol.asyncDispose]();
    },
  });
  if (project.auth !== undefined || project.customApp !== undefined) exposeEnvironment(project.env);
  const program = executorProgram(findTsconfig(project.dir));
  const executors = owned.keep(new StandbyProcesses(program, node.executors));
  return { node, connection, executors };
};

// The parts of a server that start while its modules are loaded: the export of its log, PostgreSQL, and the processes of its executors.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { executorEnvironment, exposeEnvironment } from '../config/environment.ts';
import { findTsconfig } from '../config/project/tsconfig.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';
import { nodeProcesses } from './node-processes.ts';
import { executorProgram } from '../engine/dispatch/executor-process.ts';
import { StandbyProcesses } from '../jobs/program-process.ts';
import { type Connection, openConnection } from '../storage/postgres/connection.ts';
import { type NodeProcesses, wantedConnections } from '../storage/postgres/connection-plan.ts';
import { type LogExport, openLogExport } from '../telemetry/log-export.ts';
import type { Owned } from './owned.ts';

export interface EarlyParts {
  node: NodeProcesses;
  /** Rejects when the database cannot be opened, and when the start is cancelled. */
  connection: Promise<Connection>;
  executors: StandbyProcesses;
  /** How Python processes are started; undefined for a project without Python files. Rejects with a ConfigError. */
  python: Promise<PythonLaunch | undefined>;
  /** Names this server in its telemetry. */
  instanceId: string;
  /** Undefined when the log is not sent. */
  logExport: LogExport | undefined;
}

/** When the start fails, closing `owned` cancels what has not started yet, and closes the rest. */
export const startEarlyParts = (
  {
    settings,
    project,
    logger,
    signal,
  }: { settings: Settings; project: SvcJson; logger: Logger; signal?: AbortSignal },
  owned: Owned,
): EarlyParts => {
  const instanceId = randomUUID();
  const logExport = openLogExport(settings.telemetry, { instanceId, logger });
  if (logExport) owned.keep(logExport);
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
  const python = findPython(project, logger);
  python.catch(() => undefined); // the caller awaits it
  return { node, connection, executors, python, instanceId, logExport };
};

/** Throws a ConfigError when no interpreter can execute the files of the project. */
const findPython = async (
  { dir, file, env, python }: SvcJson,
  logger: Logger,
): Promise<PythonLaunch | undefined> => {
  if (python === undefined) return undefined;
  // Imported here: a server without Python files starts faster without it.
  const { findInterpreter, interpreterText, interpreterWarnings } =
    await import('../config/project/python-interpreter.ts');
  const project = { dir, file, python };
  const interpreter = await findInterpreter(project, { ...env, ...executorEnvironment() });
  logger.info(interpreterText(interpreter));
  for (const warning of interpreterWarnings(project, interpreter)) logger.warn(warning);
  return { interpreter: interpreter.path, paths: python.paths, storedClasses: python.storedClasses };
};

// The inputs from which the composition root builds the services.
import type { Logger } from 'pino';
import type { AuthDefinition } from '../auth/handlers/auth-definition.ts';
import type { OwnRequests } from '../auth/principal/own-requests.ts';
import type { AccessMode } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { CustomCode } from './custom-code.ts';
import type { OwnAddress } from '../engine/executor/own-address.ts';
import type { ServerParsing } from './parser-tasks.ts';
import type { StandbyProcesses } from '../jobs/program-process.ts';
import type { ConnectionPlan } from '../storage/postgres/connection-plan.ts';
import type { Database, DatabaseOptions } from '../storage/postgres/database.ts';
import type { Replica } from '../storage/replica/open-replica.ts';
import type { LogExport } from '../telemetry/log-export.ts';

export interface ServiceParts {
  database: Database;
  /** The options with which executors and exporters open their own connections. */
  databaseOptions: DatabaseOptions;
  /** Undefined without SVC_DATABASE_REPLICA_URI. */
  replica: Replica | undefined;
  plan: ConnectionPlan;
  /** Executor processes that have been started already. */
  standby: StandbyProcesses;
  /** Why the embedded PostgreSQL is unavailable; undefined while it is available. */
  databaseFailure: () => string | undefined;
  settings: Settings;
  project: SvcJson;
  /** How Python processes are started; undefined for a project without Python files. */
  python: PythonLaunch | undefined;
  /** Credentials of the project's own requests; undefined for a project without Python files. */
  ownRequests: OwnRequests | undefined;
  ownAddress: OwnAddress;
  /** How callers authenticate. */
  mode: AccessMode;
  /** The project's auth object; undefined when it has none. */
  authDefinition: AuthDefinition | undefined;
  /** The project's custom app; undefined when it has none. */
  customCode: CustomCode | undefined;
  parsing: ServerParsing;
  logger: Logger;
  /** Names this server in its telemetry. */
  instanceId: string;
  /** Undefined when the log is not sent. */
  logExport: LogExport | undefined;
  /** Called with files of the project's modules that were loaded. */
  onModules: ((files: string[]) => void) | undefined;
}

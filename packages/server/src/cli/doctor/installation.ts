// All checks of an installation, in the order in which they depend on each other. Nothing is changed, and nothing is started.
import type { DestinationProbe } from '../../app/destination-probes.ts';
import { nodeProcesses } from '../../app/node-processes.ts';
import { type Config, type ConfigSources, loadConfig } from '../../config/config.ts';
import { ConfigError, type Mistake } from '../../config/project/mistake.ts';
import { exposureOf } from '../../config/settings/exposure.ts';
import type { FailingDeliveries } from '../../storage/deployment/webhooks/webhook-deliveries.ts';
import { nodeTtlMs } from '../../storage/deployment/workers.ts';
import { type EmbeddedState, readEmbeddedState } from '../../storage/embedded/embedded-state.ts';
import { readConnectionLimits } from '../../storage/postgres/connection-plan.ts';
import { type DatabaseOptions, openDatabase, type PooledDatabase } from '../../storage/postgres/database.ts';
import { uriOptions } from '../../storage/postgres/connection.ts';
import { checkDirect } from '../../storage/postgres/direct-connection.ts';
import { installationStorage } from '../../storage/postgres/installation.ts';
import { readReplicaFacts } from '../../storage/replica/replica-facts.ts';
import { createStorage } from '../../storage/storage.ts';
import { plural } from '../output/quantities.ts';
import {
  type Check,
  type Finding,
  ok,
  type Outcome,
  problem,
  runCheck,
  skipped,
  warning,
} from './finding.ts';
import {
  checkClock,
  checkSchemaState,
  connectionsOutcome,
  directOutcome,
  factsOutcome,
  pooledConnectionsOutcome,
  replicaOutcome,
  rightsOutcomes,
  unreachableOutcome,
} from './database.ts';
import { collectorOutcome, sentSignals } from './collector.ts';
import { checkDataFiles, checkDataFolder, checkDiskSpace, embeddedOutcome } from './data-folder.ts';
import { assertBindable } from '../../http/server/listen.ts';
import { announcedIn } from '../../http/server/address-file.ts';
import { findSealer, keyFileIn } from '../../auth/sealed-users/encryption-key.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { EncryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { basename } from 'node:path';
import {
  findInterpreter,
  interpreterText,
  interpreterWarnings,
  type PythonProject,
} from '../../config/project/python-interpreter.ts';

const localMs = 5_000;
const filesMs = 30_000;
const queryMs = 10_000;
/** A host gets 10 s; several hosts are tried one after the other. */
const connectMs = 30_000;
const collectorMs = 10_000;
/** uv or poetry are asked for the interpreter, and the interpreter for its packages. */
const pythonMs = 60_000;
const probeLimits = { probeMs: 10_000, allMs: 60_000 };

const folderChecks = ['data folder', 'disk space', 'encryption key file', 'port'];
const databaseChecks = [
  'schema',
  'clock',
  'connections',
  'rights',
  'encryption key',
  'destinations',
  'webhooks',
];

export type Report = (finding: Finding) => void;

/** Calls `report` with each finding as soon as it is known. */
export const examine = async (sources: ConfigSources, report: Report): Promise<void> => {
  const run = async (name: string, limitMs: number, work: Check['run']): Promise<void> => {
    for (const finding of await runCheck({ name, limitMs, run: work })) report(finding);
  };
  const skip = (names: readonly string[], reason: string): void => {
    for (const check of names) report({ check, ...skipped(reason) });
  };

  await run('node', localMs, () => checkNode(process.versions.node));
  const config = readConfig(sources);
  await run('settings', localMs, () =>
    config instanceof ConfigError ? mistakeOutcomes(config) : settingsOutcomes(config),
  );
  if (config instanceof ConfigError)
    return skip([...folderChecks, 'database', ...databaseChecks], 'Correct the settings first.');

  const { python } = config.project;
  if (python !== undefined)
    await run('python', pythonMs, () => pythonOutcomes({ ...config.project, python }, sources.env));
  const { storage } = config.settings;
  await run('data folder', localMs, () => checkDataFolder(storage.dataDir));
  await run('disk space', localMs, () => checkDiskSpace(storage.dataDir));
  await run('encryption key file', localMs, () => checkKeyFile(config.settings));
  await run('port', localMs, () => checkPort(config.settings.http, storage.dataDir));
  const signals = sentSignals(config.settings.telemetry);
  if (signals.length > 0)
    await run('collector', 2 * collectorMs, async () => {
      const { probeReceiver } = await import('../../telemetry/receiver-probe.ts');
      return Promise.all(
        signals.map(async (signal) =>
          collectorOutcome(signal, await probeReceiver(signal.receiver, collectorMs)),
        ),
      );
    });
  const target = await findDatabase(config, run);
  if (typeof target === 'string') return skip(['database', ...databaseChecks], target);

  const opening = openDatabase({ ...target, poolMax: 2, applicationName: 'svc doctor' });
  // Closed also when it opens after the time limit.
  await using _closing = {
    [Symbol.asyncDispose]: async () => (await opening.catch(() => undefined))?.[Symbol.asyncDispose](),
  };
  let database: PooledDatabase | undefined;
  await run('database', connectMs, async () => {
    try {
      database = await opening;
    } catch (error) {
      return unreachableOutcome(error);
    }
    return factsOutcome(await installationStorage(database).facts());
  });
  if (database === undefined) return skip(databaseChecks, 'The database cannot be reached.');
  await examineDatabase(config, { database, options: target }, run);
};

type Run = (name: string, limitMs: number, work: Check['run']) => Promise<void>;

const readConfig = (sources: ConfigSources): Config | ConfigError => {
  try {
    return loadConfig(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
};

/** The database to connect to, or why there is none. */
const findDatabase = async (
  { settings: { storage } }: Config,
  run: Run,
): Promise<DatabaseOptions | string> => {
  if (storage.databaseUri !== undefined) return uriOptions(storage.databaseUri, storage.databaseListenUri);
  let state: EmbeddedState | undefined;
  await run('embedded PostgreSQL', localMs, async (): Promise<Outcome> => {
    state = await readEmbeddedState(storage.dataDir);
    return embeddedOutcome(state);
  });
  if (state && !state.running && state.otherHost === undefined && state.dataVersion !== undefined) {
    const { folder } = state;
    await run('data files', filesMs, () => checkDataFiles(folder));
  }
  if (state?.running !== undefined) return { connection: state.running.connection };
  return state?.otherHost === undefined
    ? 'No server runs on the data folder, and svc doctor starts none. Start svc, and run svc doctor again to check the database too.'
    : 'The data folder is used elsewhere.';
};

const examineDatabase = async (
  { settings }: Config,
  { database, options }: { database: PooledDatabase; options: DatabaseOptions },
  run: Run,
): Promise<void> => {
  const isPooled = options.direct !== undefined;
  const installation = installationStorage(database);
  const storage = createStorage(database);
  if (isPooled)
    await run('direct connection', connectMs, () => directOutcome(checkDirect(database, options)));
  const { replica } = settings.storage;
  if (replica !== undefined)
    await run('replica', connectMs + replica.lagMaxMs, () => {
      const facts = readReplicaFacts(database, replica.uri.reveal(), replica.lagMaxMs);
      return replicaOutcome(facts, replica.lagMaxMs);
    });
  await run('schema', queryMs, () => checkSchemaState(database));
  await run('clock', queryMs, () => checkClock(installation));
  await run('connections', queryMs, async () => {
    const node = nodeProcesses(settings);
    const use = await installation.connections();
    if (isPooled) return pooledConnectionsOutcome(node, use);
    return connectionsOutcome(
      node,
      await readConnectionLimits(database, nodeTtlMs(settings.runs.leaseMs)),
      use,
    );
  });
  await run('rights', queryMs, async () =>
    rightsOutcomes(await installation.rights(), (await installation.facts()).user),
  );
  await run('encryption key', queryMs, () => checkEncryptionKey(settings, storage.encryptionKeys));
  await run('destinations', probeLimits.allMs + 2 * probeLimits.probeMs, async () => {
    const { probeDestinations } = await import('../../app/destination-probes.ts');
    return destinationOutcomes(await probeDestinations(storage, settings, probeLimits));
  });
  await run('webhooks', queryMs, async () => webhooksOutcome(await storage.deliveries.failing()));
};

/** bin/svc.js refuses older versions too, before it loads anything. */
const oldest = { major: 20, minor: 19 };
/** Node 20 gets no more security updates. https://github.com/nodejs/release#release-schedule */
const endOfLife = { major: 20, on: '2026-04-30' };

export const checkNode = (version: string): Outcome => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < oldest.major || (major === oldest.major && minor < oldest.minor))
    return problem(
      `Node.js ${version} is too old: svc needs ${oldest.major}.${oldest.minor} or newer.`,
      'Install Node.js 24.',
    );
  if (major <= endOfLife.major)
    return warning(
      `Node.js ${version} works, but it gets no security updates since ${endOfLife.on}.`,
      'Install Node.js 24, with which graphs also run faster.',
    );
  return ok(`Node.js ${version} is supported.`);
};

const webhooksMax = 1_000;

const webhooksOutcome = ({ count, origin, error }: FailingDeliveries): Outcome => {
  if (count === 0) return ok('No webhook delivery is failing.');
  const subject =
    count > webhooksMax ? `More than ${plural(webhooksMax, 'webhook')}` : `${plural(count, 'webhook')}`;
  return warning(
    `${subject} could not be delivered yet and will be retried. The last error, of ${origin}: ${error}.`,
    'Make the receiver respond with 2xx, and check SVC_EGRESS_ALLOW when it is in a private network.',
  );
};

/** The test of svc destinations test, with the stored credentials. */
const destinationOutcomes = (probes: readonly DestinationProbe[]): Outcome[] =>
  probes.length === 0 ? [ok('There are no destinations of exports.')] : probes.map(destinationOutcome);

const destinationOutcome = ({ name, id, workspace, failure }: DestinationProbe): Outcome => {
  const subject = `Destination "${name}" (${id.slice(0, 8)}, workspace "${workspace}")`;
  if (failure === undefined) return ok(`${subject} can be written to.`);
  if (failure.kind === 'skipped')
    return warning(`${subject} was not tested: ${failure.message}.`, 'Test it with svc destinations test.');
  return problem(
    `${subject} cannot be written to: ${failure.message}`,
    'Correct its permissions, or its credentials with svc destinations rotate. svc destinations test shows each step.',
  );
};

/** By the same validation as a start. */
const settingsOutcomes = ({ project, settings }: Config): Outcome[] => [
  ok(`${project.file} and the settings have no mistakes.`),
  ...project.warnings.map((text) => warning(text, `Correct ${project.file}.`)),
  ...[...exposureOf(settings, project).warnings, ...settings.telemetry.warnings].map((text) =>
    warning(text, `Correct ${project.file} or the settings of the server.`),
  ),
];

const mistakeOutcomes = ({ mistakes }: ConfigError): Outcome[] => mistakes.map(mistakeOutcome);

const mistakeOutcome = ({ where, value, problem: wrong, remedy }: Mistake): Outcome =>
  problem(`${value === undefined ? where : `${where} = ${value}`}: ${wrong}.`, remedy);

// The port of the server: it is free, or the server of this data folder listens there.

export const checkPort = async (
  { host, port }: { host: string; port: number },
  dataDir: string,
): Promise<Outcome> => {
  try {
    await assertBindable(host, port);
  } catch (error) {
    const announced = announcedIn(dataDir);
    if (announced !== undefined && Number(new URL(announced).port) === port)
      return ok(`The server of this data folder listens at ${announced}.`);
    return problem(
      `A server cannot listen on port ${port} of ${host}. ${(error as Error).message}`,
      'Choose another port with --port or SVC_PORT, or another address with --host.',
    );
  }
  return ok(port === 0 ? 'The server takes any free port.' : `Port ${port} of ${host} is free.`);
};

// The key that encrypts secrets is the one of the secrets in the database.

/** The key of the settings was checked with them; the file in the data folder is read here. */
export const checkKeyFile = async ({ auth, storage }: Settings): Promise<Outcome> => {
  if (auth.encryptionKey !== undefined) return ok('SVC_ENCRYPTION_KEY has 32 bytes.');
  const file = keyFileIn(storage.dataDir);
  try {
    const sealer = await findSealer(undefined, storage.dataDir);
    return ok(sealer === undefined ? 'There is no encryption key yet.' : `${file} contains 32 bytes.`);
  } catch (error) {
    return problem(
      `${file} cannot be used: ${(error as Error).message}.`,
      'Restore the file from your copy. It contains 32 bytes in base64 or hexadecimal.',
    );
  }
};

const checkEncryptionKey = async (
  { auth, storage }: Settings,
  keys: Pick<EncryptionKeyStorage, 'find'>,
): Promise<Outcome> => {
  const known = await keys.find();
  const sealer = await findSealer(auth.encryptionKey, storage.dataDir);
  if (known === undefined) return ok('Nothing in the database is encrypted yet.');
  if (sealer?.keyId === known) return ok('The encryption key is that of the secrets in the database.');
  return problem(
    `The secrets in the database are encrypted with key ${known}, and this installation has ${sealer === undefined ? 'no key' : `key ${sealer.keyId}`}.`,
    `Set SVC_ENCRYPTION_KEY to the key of the other servers, or restore encryption.key in ${storage.dataDir}.`,
  );
};

// The Python interpreter of a project can execute its files.

export const pythonOutcomes = async (
  project: PythonProject,
  env: Readonly<Record<string, string>>,
): Promise<Outcome[]> => {
  try {
    const interpreter = await findInterpreter(project, env);
    const advice = 'Create the environment with the Python that the project names.';
    return [
      ok(`${interpreterText(interpreter)}.`),
      ...interpreterWarnings(project, interpreter).map((text) => warning(`${text}.`, advice)),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.map(({ problem: wrong, remedy }) =>
      problem(`${basename(project.file)}: ${wrong}.`, remedy),
    );
  }
};

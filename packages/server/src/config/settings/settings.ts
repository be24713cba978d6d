import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { settingDefinitions, type SettingKey, settingKeys, type SettingValue } from './definitions.ts';
import type { Alias, Machine, SettingDefinition } from './setting-type.ts';
import { type Limits, standardLimits } from './limits.ts';
import { ConfigError, type Mistake, nearest } from '../project/mistake.ts';
import { isRemovedKey, removedSettings } from './removed-settings.ts';
import { telemetrySettings } from './telemetry-settings.ts';

/** The settings, with the limits that are none. Durations are in milliseconds, sizes in bytes, paths absolute. */
export type Settings = ReturnType<typeof group>;

export interface SettingOrigin {
  readonly shown: string;
  /** `flag --port`, `SVC_PORT`, `svc.json env SVC_PORT`, `svc.json settings.port` or `default`. */
  readonly origin: string;
}

export interface SettingSources {
  env: Readonly<Record<string, string>>;
  flags?: Partial<Record<SettingKey, string>>;
  /** The parts of the config file that contain settings. */
  file?: {
    name: string;
    dir: string;
    settings: Readonly<Record<string, unknown>>;
    env: Readonly<Record<string, string>>;
  };
  /** Base of relative paths in flags and variables. */
  cwd: string;
  machine?: Partial<Machine>;
  /** For tests. */
  limits?: Partial<Limits>;
}

const dayMs = 86_400_000;

interface Given {
  text: string;
  origin: string;
  /** Base of a relative path in the value. */
  dir: string;
}

/** Flags override the environment, which overrides the config file, which overrides defaults. Throws all mistakes at once. */
export function resolveSettings(sources: SettingSources): Settings {
  const { settings, mistakes } = readSettings(sources);
  if (mistakes.length > 0) throw new ConfigError(...mistakes);
  return settings;
}

export interface ReadSettings {
  /** Settings with mistakes have their defaults. */
  settings: Settings;
  mistaken: ReadonlySet<SettingKey>;
  mistakes: Mistake[];
}

/** Like `resolveSettings`, for a caller that reports further mistakes together with these. */
export function readSettings(sources: SettingSources): ReadSettings {
  const machine: Machine = {
    cores: availableParallelism(),
    terminal: isatty(2),
    develops: false,
    dir: sources.file?.dir ?? sources.cwd,
    ...sources.machine,
  };
  const mistaken = new Map<SettingKey, Mistake>();
  const origins: Partial<Record<SettingKey, SettingOrigin>> = {};

  const parse = <K extends SettingKey>(
    key: K,
    definition: SettingDefinition<SettingValue<K>>,
    given: Given | undefined,
  ): SettingValue<K> | undefined => {
    if (given === undefined) {
      origins[key] = { shown: 'none', origin: 'default' };
      return undefined;
    }
    const parsed = definition.type.parse(given.text);
    if ('problem' in parsed) {
      const value = definition.type.secret ? '[redacted]' : quote(given.text);
      mistaken.set(key, { where: given.origin, value, ...parsed });
      // A mistake in a default is a bug, and a test checks all of them.
      return given.origin === 'default' ? undefined : parse(key, definition, defaultOf(definition, machine));
    }
    const value = key === 'dataDir' ? (resolve(given.dir, given.text) as SettingValue<K>) : parsed.value;
    origins[key] = { shown: definition.type.format(value), origin: given.origin };
    return value;
  };
  const read = <K extends SettingKey>(key: K): SettingValue<K> | undefined => {
    const definition = settingDefinitions[key] as unknown as SettingDefinition<SettingValue<K>>;
    return parse(key, definition, find(key, sources) ?? defaultOf(definition, machine));
  };

  const values = Object.fromEntries(settingKeys.map((key) => [key, read(key)])) as {
    [K in SettingKey]: SettingValue<K>;
  };
  const mistakes = [...removedSettings(sources), ...unknownKeys(sources), ...mistaken.values()];
  if (values.databaseUri === undefined && !mistaken.has('databaseUri')) {
    if (values.databaseListenUri !== undefined)
      mistakes.push(
        withoutDatabase(
          origins.databaseListenUri,
          'Set SVC_DATABASE_URI to the pooler, or use SVC_DATABASE_URI alone for a PostgreSQL without one.',
        ),
      );
    if (values.databaseReplicaUri !== undefined)
      mistakes.push(
        withoutDatabase(
          origins.databaseReplicaUri,
          'Set SVC_DATABASE_URI to the primary. The embedded PostgreSQL has no replica.',
        ),
      );
  }
  return {
    settings: group(values, origins as Record<SettingKey, SettingOrigin>, sources),
    mistaken: new Set(mistaken.keys()),
    mistakes,
  };
}

function withoutDatabase(setting: SettingOrigin | undefined, remedy: string): Mistake {
  const where = setting?.origin ?? '';
  return { where, value: '[redacted]', problem: 'has no effect without SVC_DATABASE_URI', remedy };
}

function find(key: SettingKey, { flags = {}, env, file, cwd }: SettingSources): Given | undefined {
  const definition: SettingDefinition<unknown> = settingDefinitions[key];
  const flag = flags[key];
  if (flag !== undefined) return { text: flag, origin: `flag ${definition.flag?.name ?? key}`, dir: cwd };

  const names: Alias[] = [{ name: definition.variable }, ...(definition.aliases ?? [])];
  const places = [{ variables: env, prefix: '', dir: cwd }];
  if (file !== undefined) places.push({ variables: file.env, prefix: `${file.name} env `, dir: file.dir });
  for (const { variables, prefix, dir } of places) {
    for (const { name, unit = '' } of names) {
      // Shells and compose files set variables to the empty text to unset them.
      const text = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (text !== undefined && text !== '') return { text: text + unit, origin: prefix + name, dir };
    }
  }

  const value = file !== undefined && Object.hasOwn(file.settings, key) ? file.settings[key] : undefined;
  if (file === undefined || value === undefined) return undefined;
  return {
    text: typeof value === 'string' ? value : JSON.stringify(value),
    origin: `${file.name} settings.${key}`,
    dir: file.dir,
  };
}

function defaultOf(definition: SettingDefinition<unknown>, machine: Machine): Given | undefined {
  const text = typeof definition.default === 'function' ? definition.default(machine) : definition.default;
  return text === undefined ? undefined : { text, origin: 'default', dir: machine.dir };
}

function unknownKeys({ file }: SettingSources): Mistake[] {
  const unknown = Object.keys(file?.settings ?? {}).filter(
    (key) => !Object.hasOwn(settingDefinitions, key) && !isRemovedKey(key),
  );
  return unknown.map((key) => {
    const near = nearest(key, settingKeys);
    return {
      where: `${file?.name} settings.${quote(key)}`,
      problem: 'there is no such setting',
      remedy: near === undefined ? `There are: ${settingKeys.join(', ')}.` : `Did you mean ${near}?`,
    };
  });
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

type SettingValues = { [K in SettingKey]: SettingValue<K> };

function groupHttp(values: SettingValues, limits: Limits) {
  return Object.freeze({
    host: values.host,
    port: values.port,
    bodyLimitBytes: values.bodyLimit,
    /** For large bodies and responses in this process. */
    memoryBytes: limits.requestMemoryBytes,
    /** For a page of a list. */
    answerLimitBytes: limits.answerBytesMax,
    heartbeatMs: limits.heartbeatMs,
    /** Undefined: `http.mount_prefix` of svc.json applies. */
    mountPrefix: values.mountPrefix,
    console: values.console === 'on',
    consoleViewer: values.consoleViewer === 'on',
    consoleSessions: { idleMs: values.consoleIdle, totalMs: limits.consoleSessionMs },
    /** Undefined: `http.cors` of svc.json applies. */
    corsOrigins: values.corsOrigins,
    trustedProxies: values.trustedProxies ?? [],
  });
}

/** A standby of the database, for reads of traces and exports. */
function replicaOf(values: SettingValues, limits: Limits) {
  const { databaseReplicaUri: uri, databaseReplicaLagMax: lagMaxMs } = values;
  return uri === undefined ? undefined : { uri, lagMaxMs, exportWaitMs: limits.replicaExportWaitMs };
}

function groupExports(values: SettingValues, limits: Limits) {
  return Object.freeze({
    slots: values.exportSlots,
    /** For an export, from its start. */
    timeoutMs: values.exportTimeout,
    /** For one attempt of an export partition run. */
    runTimeoutMs: limits.exportRunTimeoutMs,
    retries: limits.exportRetries,
    retryDelayMs: limits.exportRetryDelayMs,
    runsPerExport: values.exportRunsPerExport,
    exportsPerWorkspace: values.exportsPerWorkspace,
    leaseMs: limits.exportLeaseMs,
    scheduleLagMs: limits.exportScheduleLagMs,
    compression: limits.exportCompression,
    fileBytes: limits.exportFileBytes,
    lendsCredentials: values.exportAmbientCredentials,
    /** Not empty. */
    fileRoots: values.exportFileRoots ?? [resolve(values.dataDir, 'exports')],
    /** `quotaBytes` is infinity without a quota. */
    folderRules: Object.freeze({
      freeBytes: limits.exportFreeBytes,
      quotaBytes: values.exportFileRoots ? limits.fileRootQuotaBytes : limits.dataFolderQuotaBytes,
    }),
  });
}

function group(
  values: SettingValues,
  origins: Record<SettingKey, SettingOrigin>,
  { env, limits: given }: SettingSources,
) {
  const limits = { ...standardLimits, ...given };
  return Object.freeze({
    role: values.role,
    http: groupHttp(values, limits),
    access: Object.freeze({ apiKeys: values.apiKeys ?? [], allowAnonymous: values.allowAnonymous }),
    /** For one process; infinity means no limit. */
    limits: Object.freeze({
      requestsPerSecond: values.rateLimit,
      streamsPerCaller: values.streamsPerCaller,
      streamsMax: limits.streamsMax,
    }),
    storage: Object.freeze({
      dataDir: values.dataDir,
      /** Undefined: the embedded PostgreSQL in `dataDir`. */
      databaseUri: values.databaseUri,
      /** A direct connection; `databaseUri` then leads to a pooler. */
      databaseListenUri: values.databaseListenUri,
      /** Undefined without a replica. */
      replica: replicaOf(values, limits),
      poolMax: values.poolMax,
    }),
    runs: Object.freeze({
      executors: values.executors,
      jobsPerWorker: values.jobsPerWorker,
      jobsMax: limits.jobsMax,
      leaseMs: values.lease,
      shutdownGraceMs: values.shutdownGrace,
      cancelGraceMs: limits.cancelGraceMs,
      timeoutMs: values.runTimeout,
      streamTtlMs: values.streamTtl,
    }),
    platform: Object.freeze({
      traceDaysKept: Math.ceil(values.traceRetention / dayMs),
      /** For a query of traces. */
      traceQueryMs: limits.traceQueryMs,
      ingestLimitBytes: limits.ingestBytesMax,
      ingestJson: { valuesMax: limits.ingestValuesMax, keysMax: limits.ingestKeysMax },
      /** The project for traces of this server's runs; undefined when they are not traced. */
      tracingProject: values.tracing === 'on' ? values.tracingProject : undefined,
      /** Undefined: a key is created at the first start. */
      bootstrapApiKey: values.bootstrapApiKey,
      bootstrapWorkspaceId: values.bootstrapWorkspaceId,
    }),
    exports: groupExports(values, limits),
    /** `webhookSecret` is undefined when webhooks are not signed. */
    egress: Object.freeze({ allow: values.egressAllow ?? [], webhookSecret: values.webhookSecret }),
    auth: Object.freeze({
      timeoutMs: limits.authTimeoutMs,
      /** Undefined: there is no Studio user. */
      studioKey: values.studioKey,
      /** Undefined: the console is a public client of the provider. */
      oidcClientSecret: values.consoleOidcSecret,
      /** Undefined: the key in the data folder is used. */
      encryptionKey: values.encryptionKey,
    }),
    log: Object.freeze({ level: values.logLevel, format: values.logFormat }),
    telemetry: Object.freeze(telemetrySettings(env, limits)),
    /** For `svc config`: each value as text without secrets, and its origin. */
    origins: Object.freeze(origins),
  });
}

export interface ShownSetting {
  key: SettingKey;
  variable: string;
  /** A secret is redacted. */
  value: string;
  origin: string;
  meaning: string;
}

/** The settings in force, in the order of their definitions. */
export const shownSettings = ({ origins }: Pick<Settings, 'origins'>): ShownSetting[] =>
  settingKeys.map((key) => {
    const { variable, doc: meaning } = settingDefinitions[key];
    const { shown: value, origin } = origins[key];
    return { key, variable, value, origin, meaning };
  });

import { describe, expect, it } from 'vitest';
import { settingDefinitions, settingKeys } from './definitions.ts';
import { ConfigError } from '../project/mistake.ts';
import { readSettings, resolveSettings } from './settings.ts';
import { testSettings } from '../../../test/settings.ts';

const base = { env: {}, cwd: '/work', machine: { cores: 4, terminal: false } };
const file = { name: 'svc.json', dir: '/project', settings: {}, env: {} };

describe('settings', () => {
  it('may have IPv6 addresses in brackets, and white space around the URI of the database', () => {
    const env = { SVC_HOST: '[::]', DATABASE_URI: ' postgresql://u:p@h/db\n' };
    const { http, storage } = resolveSettings({ ...base, env, file });
    expect(http.host).toBe('::');
    expect(storage.databaseUri?.reveal()).toBe('postgresql://u:p@h/db');
  });

  it('have the documented defaults', () => {
    const { origins, ...values } = resolveSettings({ ...base, file });
    expect(values).toEqual({
      role: 'all',
      http: {
        host: '127.0.0.1',
        port: 2024,
        bodyLimitBytes: 20_971_520,
        memoryBytes: 67_108_864,
        answerLimitBytes: 16_777_216,
        heartbeatMs: 5_000,
        console: true,
        consoleViewer: true,
        consoleSessions: { idleMs: 43_200_000, totalMs: 604_800_000 },
        corsOrigins: undefined,
        trustedProxies: [],
      },
      access: { apiKeys: [], allowAnonymous: false },
      limits: { requestsPerSecond: 100, streamsPerCaller: 50, streamsMax: 10_000 },
      storage: { dataDir: '/project/.svc', databaseUri: undefined, poolMax: 10 },
      runs: {
        executors: 3,
        jobsPerWorker: 'auto',
        jobsMax: 500,
        leaseMs: 30_000,
        shutdownGraceMs: 180_000,
        cancelGraceMs: 10_000,
        timeoutMs: 3_600_000,
        streamTtlMs: 120_000,
      },
      platform: {
        bootstrapApiKey: undefined,
        bootstrapWorkspaceId: undefined,
        ingestLimitBytes: 41_943_040,
        ingestJson: { valuesMax: 1_000_000, keysMax: 500_000 },
        traceDaysKept: 400,
        traceQueryMs: 10_000,
      },
      exports: {
        slots: 4,
        timeoutMs: 259_200_000,
        runTimeoutMs: 14_400_000,
        retries: 20,
        retryDelayMs: 30_000,
        runsPerExport: 45,
        exportsPerWorkspace: 15,
        leaseMs: 60_000,
        scheduleLagMs: 600_000,
        compression: 'zstandard',
        fileBytes: 104_857_600,
        lendsCredentials: false,
        fileRoots: ['/project/.svc/exports'],
        folderRules: { freeBytes: 1_024 ** 3, quotaBytes: 20 * 1_024 ** 3 },
      },
      egress: { allow: [], webhookSecret: undefined },
      auth: { timeoutMs: 5000, studioKey: undefined, oidcClientSecret: undefined, encryptionKey: undefined },
      log: { level: 'info', format: 'json' },
      telemetry: {
        spans: undefined,
        metrics: undefined,
        logs: undefined,
        resource: { 'service.name': 'svc' },
        sampler: { name: 'parentbased_always_on', ratio: 1 },
        spanDelayMs: 5_000,
        metricIntervalMs: 60_000,
        logDelayMs: 1_000,
        warnings: [],
      },
    });
    expect(new Set(Object.values(origins).map(({ origin }) => origin))).toEqual(new Set(['default']));
  });

  it('have defaults that the settings themselves accept, also on one core', () => {
    for (const cores of [1, 2, 1_000]) {
      const { mistakes } = readSettings({
        ...base,
        machine: { cores, terminal: true },
      });
      expect(mistakes).toEqual([]);
    }
    expect(resolveSettings({ ...base, machine: { cores: 1 } }).runs.executors).toBe(1);
  });

  it('have priorities: flag, variable, env of the file, settings of the file, default', () => {
    const all = {
      ...base,
      flags: { port: '1' },
      env: { SVC_PORT: '2', PORT: '3' },
      file: { ...file, env: { SVC_PORT: '4' }, settings: { port: 5 } },
    };
    const seen = [
      all,
      { ...all, flags: {} },
      { ...all, flags: {}, env: { PORT: '3' } },
      { ...all, flags: {}, env: {} },
      { ...all, flags: {}, env: {}, file: { ...file, settings: { port: 5 } } },
      base,
    ].map((sources) => {
      const settings = resolveSettings(sources);
      return [settings.http.port, settings.origins.port.origin];
    });
    expect(seen).toEqual([
      [1, 'flag --port'],
      [2, 'SVC_PORT'],
      [3, 'PORT'],
      [4, 'svc.json env SVC_PORT'],
      [5, 'svc.json settings.port'],
      [2024, 'default'],
    ]);
  });

  it('resolve a relative data directory from the place where it was written', () => {
    const dirs = [
      { ...base, file, env: { SVC_DATA_DIR: 'data' } },
      { ...base, file, flags: { dataDir: './data' } },
      { ...base, file: { ...file, settings: { dataDir: 'data' } } },
    ].map((sources) => resolveSettings(sources).storage.dataDir);
    expect(dirs).toEqual(['/work/data', '/work/data', '/project/data']);
  });

  it('accept stock variables with the unit in the name', () => {
    const settings = resolveSettings({
      ...base,
      env: { BG_JOB_TIMEOUT_SECS: '60', HTTP_MAX_REQUEST_BODY_BYTES: '2048', LOG_LEVEL: 'WARNING' },
    });
    expect(settings.runs.timeoutMs).toBe(60_000);
    expect(settings.http.bodyLimitBytes).toBe(2_048);
    expect(settings.log.level).toBe('warn');
  });

  it('treat an empty variable as not set', () => {
    expect(resolveSettings({ ...base, env: { SVC_PORT: '' } }).origins.port.origin).toBe('default');
  });

  it('are read-only', () => {
    const settings = testSettings({ dataDir: '/tmp/x' });
    expect(() => Object.assign(settings.http, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(settings, { http: {} })).toThrow(TypeError);
  });

  it('never print the password of the database', () => {
    const settings = resolveSettings({ ...base, env: { DATABASE_URI: 'postgres://u:hunter2@host/db' } });
    expect(JSON.stringify(settings)).not.toContain('hunter2');
    expect(settings.origins.databaseUri.shown).toBe('postgres://u:[redacted]@host/db');
    expect(settings.storage.databaseUri?.reveal()).toBe('postgres://u:hunter2@host/db');
  });

  it('reject a direct connection without a connection to a pooler, and never print its password', () => {
    const env = { SVC_DATABASE_LISTEN_URI: 'postgres://u:hunter2@direct/db' };
    expect(() => resolveSettings({ ...base, env })).toThrow(
      /SVC_DATABASE_LISTEN_URI.*without SVC_DATABASE_URI/s,
    );
    expect(() => resolveSettings({ ...base, env })).not.toThrow(/hunter2/);
    const settings = resolveSettings({ ...base, env: { ...env, DATABASE_URI: 'postgres://u@pooler/db' } });
    expect(settings.origins.databaseListenUri.shown).toBe('postgres://u:[redacted]@direct/db');
  });

  it('reject a replica of the embedded PostgreSQL, and never print its password', () => {
    const env = { SVC_DATABASE_REPLICA_URI: 'postgres://u:hunter2@replica/db' };
    const refused = (): unknown => resolveSettings({ ...base, env });
    expect(refused).toThrow(/SVC_DATABASE_REPLICA_URI.*without SVC_DATABASE_URI/s);
    expect(refused).not.toThrow(/hunter2/);
    const settings = resolveSettings({ ...base, env: { ...env, DATABASE_URI: 'postgres://u@primary/db' } });
    expect(settings.origins.databaseReplicaUri.shown).toBe('postgres://u:[redacted]@replica/db');
    expect(settings.storage.replica).toMatchObject({ lagMaxMs: 5_000, exportWaitMs: 60_000 });
  });

  it('never print the key that signs webhooks', () => {
    const settings = resolveSettings({
      ...base,
      env: { SVC_WEBHOOK_SECRET: 'hunter2-hunter2-hunter2-hunter2-hunter2' },
    });
    expect(JSON.stringify(settings)).not.toContain('hunter2');
    expect(settings.egress.webhookSecret?.reveal()).toBe('hunter2-hunter2-hunter2-hunter2-hunter2');
  });

  it('never print an API key', () => {
    const settings = resolveSettings({
      ...base,
      env: { SVC_API_KEY: 'hunter2-hunter2-hunter2-hunter2-a, hunter2-hunter2-hunter2-hunter2-b' },
    });
    expect(JSON.stringify(settings)).not.toContain('hunter2');
    expect(settings.origins.apiKeys.shown).toBe('[redacted], [redacted]');
    expect(settings.access.apiKeys.map((key) => key.reveal())).toEqual([
      'hunter2-hunter2-hunter2-hunter2-a',
      'hunter2-hunter2-hunter2-hunter2-b',
    ]);
  });

  it('include who may reach the server, and rate limits', () => {
    const env = {
      SVC_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      CORS_ALLOW_ORIGINS: 'https://A.example:443,null',
      SVC_RATE_LIMIT: 'none',
      SVC_STREAMS_PER_CALLER: '7',
      SVC_ALLOW_ANONYMOUS: 'true',
    };
    const { http, limits, access, origins } = resolveSettings({ ...base, env });
    expect([http.corsOrigins, access.allowAnonymous]).toEqual([['https://a.example', 'null'], true]);
    expect(limits).toEqual({
      requestsPerSecond: Number.POSITIVE_INFINITY,
      streamsPerCaller: 7,
      streamsMax: 10_000,
    });
    expect([origins.trustedProxies.shown, origins.rateLimit.shown]).toEqual(['10.0.0.0/8, ::1/128', 'none']);
    expect(
      resolveSettings({ ...base, file: { ...file, settings: { allowAnonymous: true } } }).access,
    ).toEqual({
      apiKeys: [],
      allowAnonymous: true,
    });
  });

  it('include private hosts that may be called', () => {
    const settings = resolveSettings({ ...base, env: { SVC_EGRESS_ALLOW: 'Minio.local:9000, 10.0.0.7' } });
    expect(settings.egress.allow).toEqual([
      { host: 'minio.local', port: 9_000 },
      { host: '10.0.0.7', port: undefined },
    ]);
    expect(settings.origins.egressAllow.shown).toBe('minio.local:9000, 10.0.0.7');
  });
});

describe('an invalid setting', () => {
  it.each([
    ['SVC_PORT', 'http', '"http": is not a whole number', 'from 0 to 65535'],
    ['SVC_PORT', '65536', 'is out of range', 'from 0 to 65535'],
    ['SVC_PORT', '-1', 'is out of range', 'from 0 to 65535'],
    ['SVC_PORT', '1.5', 'is not a whole number', 'from 0 to 65535'],
    ['SVC_EXECUTORS', '0', 'is out of range', 'from 1 to 256'],
    ['SVC_LEASE', '30', 'is not a duration', '30s'],
    ['SVC_LEASE', '1ms', 'is out of range', 'from 100ms to 1h'],
    ['SVC_BODY_LIMIT', '20', 'is not a size', '20mb'],
    ['SVC_BODY_LIMIT', '2gb', 'is out of range', 'to 1gb'],
    ['SVC_LOG_LEVEL', 'loud', 'is not one of the choices', 'trace, debug, info'],
    ['N_JOBS_PER_WORKER', 'many', 'is not a whole number', 'from 1 to 1000'],
    ['SVC_EGRESS_ALLOW', 'http://minio', 'is not a list of hosts', 'minio.local:9000'],
    [
      'SVC_WEBHOOK_SECRET',
      'hunter2',
      '[redacted]: is too short: it has 7 characters',
      'openssl rand -hex 32',
    ],
    [
      'SVC_BOOTSTRAP_API_KEY',
      'k'.repeat(31),
      'it has 31 characters, and 32 are the minimum',
      'openssl rand -hex 32',
    ],
    ['SVC_STUDIO_KEY', 'k'.repeat(31), 'is too short', 'openssl rand -hex 32'],
    ['SVC_API_KEY', 'hunter2', '[redacted]: contains a key that is too short', 'at least 32'],
    [
      'SVC_API_KEY',
      'hunter2-hunter2-hunter2-hunter2-hunter2,',
      '[redacted]: contains a key that is too short',
      'at least 32',
    ],
    ['SVC_API_KEY', 'hunter2 hunter2 hunter2', 'headers cannot contain', 'openssl'],
    ['SVC_ALLOW_ANONYMOUS', 'yes', 'is neither true nor false', 'true or false'],
    ['SVC_RATE_LIMIT', '0', 'is out of range', 'Or none'],
    ['SVC_CORS_ORIGINS', 'app.example.com', 'is not a list of origins', 'https://app.example.com'],
    ['SVC_TRUSTED_PROXIES', 'proxy', 'is not a list of networks', '10.0.0.0/8'],
    ['DATABASE_URI', 'mysql://u:hunter2@h/d', '[redacted]: is not a PostgreSQL URI', 'postgres://'],
    [
      'DATABASE_URI',
      'postgres://u:hunter2@h:port/d',
      '[redacted]: names a host or a port',
      'percent-encoded',
    ],
  ])('%s=%s is rejected with its name, value, problem and remedy', (variable, value, problem, remedy) => {
    const { mistakes } = readSettings({ ...base, env: { [variable]: value } });
    const message = new ConfigError(...mistakes).message;
    expect(mistakes).toHaveLength(1);
    expect(message).toContain(`${variable} = `);
    expect(message).toContain(problem);
    expect(message).toContain(remedy);
    expect(message).not.toContain('hunter2');
  });

  it('is reported together with all others', () => {
    const { mistakes } = readSettings({
      ...base,
      flags: { port: 'x' },
      env: { SVC_LEASE: 'x', N_JOBS_PER_WORKER: 'x' },
      file: { ...file, settings: { poolMax: 'x', lesae: '30s', __proto__: 1, constructor: 1 } },
    });
    expect(mistakes.map(({ where }) => where)).toEqual([
      'svc.json settings."lesae"',
      'svc.json settings."constructor"',
      'flag --port',
      'svc.json settings.poolMax',
      'N_JOBS_PER_WORKER',
      'SVC_LEASE',
    ]);
    expect(mistakes[0]?.remedy).toBe('Did you mean lease?');
  });
});

describe('the list of settings', () => {
  it('names every variable and flag once', () => {
    const names = settingKeys.flatMap((key) => {
      const { variable, aliases = [], flag } = settingDefinitions[key];
      return [variable, ...aliases.map(({ name }) => name), ...(flag ? [flag.name] : [])];
    });
    expect(new Set(names).size).toBe(names.length);
  });
});

it.each([
  [true, 'default'],
  [false, undefined],
])('runs are traced by default during development only: %s', (develops, project) => {
  const { platform } = resolveSettings({ ...base, file, machine: { ...base.machine, develops } });
  expect(platform.tracingProject).toBe(project);
});

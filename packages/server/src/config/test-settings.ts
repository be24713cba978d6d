import { resolveSettings } from './settings/settings.ts';
import type { SettingKey } from './settings/definitions.ts';
import type { Settings } from './settings/settings.ts';

/**
 * Settings for a test in the syntax of users: no environment variables, a free port, no log, and no limit of requests per second, which
 * tests might reach on fast machines only.
 */
export function testSettings(given: Partial<Record<SettingKey, string>> & { dataDir: string }): Settings {
  const defaults = { port: '0', executors: '1', logLevel: 'silent', logFormat: 'json', rateLimit: 'none' };
  return resolveSettings({
    env: {},
    flags: { ...defaults, ...given },
    cwd: given.dataDir,
    machine: { cores: 2, terminal: false },
  });
}

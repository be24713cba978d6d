import { resolveSettings } from './settings/settings.ts';
import type { SettingKey } from './settings/definitions.ts';
import type { Settings } from './settings/settings.ts';

/**
 * Settings for a test, in the text form of flags. They do not depend on the environment. The port is free, nothing is logged, and
 * there is no rate limit, which only fast machines would reach.
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

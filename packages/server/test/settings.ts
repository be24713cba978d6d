import { type Limits, standardLimits } from '../src/config/settings/limits.ts';
import { resolveSettings } from '../src/config/settings/settings.ts';
import { settingDefinitions, type SettingKey } from '../src/config/settings/definitions.ts';
import type { Settings } from '../src/config/settings/settings.ts';

/** Settings in the text form of flags, limits that are no settings, and the standard variables of OpenTelemetry. */
export type TestSettings = Partial<Record<SettingKey | `OTEL_${string}`, string>> & Partial<Limits>;

const isLimit = (key: string): boolean => Object.hasOwn(standardLimits, key);
const isVariable = (key: string): boolean => key.startsWith('OTEL_');
const isSetting = (key: string): boolean => Object.hasOwn(settingDefinitions, key);

/**
 * Settings for a test. They do not depend on the environment. The port is free, nothing is logged, and there is no rate limit, which
 * only fast machines would reach.
 */
export function testSettings(given: TestSettings & { dataDir: string }): Settings {
  const defaults = { port: '0', executors: '1', logLevel: 'silent', logFormat: 'json', rateLimit: 'none' };
  const unknown = Object.keys(given).filter((key) => !isLimit(key) && !isVariable(key) && !isSetting(key));
  if (unknown.length > 0) throw new Error(`no such setting: ${unknown.join(', ')}`);
  const pick = (isPicked: (key: string) => boolean): object =>
    Object.fromEntries(Object.entries(given).filter(([key]) => isPicked(key)));
  return resolveSettings({
    env: { ...pick(isVariable) },
    flags: { ...defaults, ...pick(isSetting) },
    limits: pick(isLimit),
    cwd: given.dataDir,
    machine: { cores: 2, terminal: false },
  });
}

// The only file that reads the environment of this process.
import { settingDefinitions, settingKeys } from './settings/definitions.ts';
import type { SettingDefinition } from './settings/setting-type.ts';

/** A copy of the environment. */
export function processEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

/** Adds variables of a config file to the environment of this process, for the project's code. Existing ones stay. */
export function exposeEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
}

/** Sets a variable of this process until `work` returns. */
export function withVariable<T>(name: string, value: string, work: () => T): T {
  const given = process.env[name];
  process.env[name] = value;
  try {
    return work();
  } finally {
    if (given === undefined) delete process.env[name];
    else process.env[name] = given;
  }
}

/** The environment for child processes, without the settings that are secret. */
export function executorEnvironment(): Record<string, string> {
  const secrets = new Set<string>(
    settingKeys
      .map((key): SettingDefinition<unknown> => settingDefinitions[key])
      .filter(({ type }) => type.secret)
      .flatMap(({ variable, aliases = [] }) => [variable, ...aliases.map(({ name }) => name)]),
  );
  return Object.fromEntries(Object.entries(processEnvironment()).filter(([name]) => !secrets.has(name)));
}

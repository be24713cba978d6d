import { type Command, Option } from 'commander';
import type { ConfigSources } from '../config/config.ts';
import { settingDefinitions, type SettingKey, settingKeys } from '../config/settings/definitions.ts';
import { processEnvironment } from '../config/environment.ts';
import type { SettingDefinition } from '../config/settings/setting-type.ts';

/** The flags that commander passes to an action, by camel-cased name. */
export type FlagValues = Record<string, unknown>;

/** The value of a flag that takes a text. */
export const textOf = (values: FlagValues, name: string): string | undefined =>
  typeof values[name] === 'string' ? values[name] : undefined;

/** Adds `--config` and the flags of these settings to a command. By default, of all settings with a flag. */
export function addFlags(command: Command, keys: readonly SettingKey[] = settingKeys): Command {
  command.option(
    '-c, --config <file>',
    'config file, or the folder it is in (default: svc.json, else langgraph.json)',
  );
  for (const key of keys) {
    const option = optionOf(key);
    if (option !== undefined) command.addOption(option);
  }
  return command;
}

export function toSources(values: FlagValues): ConfigSources {
  const flags: Partial<Record<SettingKey, string>> = {};
  for (const key of settingKeys) {
    const value = values[optionOf(key)?.attributeName() ?? ''];
    if (typeof value === 'string') flags[key] = value;
    else if (value === true) flags[key] = 'true';
  }
  const configPath = values['config'];
  return {
    cwd: process.cwd(),
    env: processEnvironment(),
    flags,
    ...(typeof configPath === 'string' ? { configPath } : {}),
  };
}

function optionOf(key: SettingKey): Option | undefined {
  const { flag, variable, doc, ...definition }: SettingDefinition<unknown> = settingDefinitions[key];
  if (flag === undefined) return undefined;
  const standard = (definition.defaultDoc ?? String(definition.default)).replaceAll('`', '');
  const names = flag.short === undefined ? flag.name : `${flag.short}, ${flag.name}`;
  const usage = flag.placeholder === undefined ? names : `${names} ${flag.placeholder}`;
  return new Option(usage, `${doc} (${variable}; default: ${standard})`);
}

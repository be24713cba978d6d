// The definition of one setting.
import type { SettingType } from './setting-type.ts';

/** Facts on which defaults depend. */
export interface Machine {
  cores: number;
  /** Whether the log goes to a terminal. */
  terminal: boolean;
  /** Whether the command is `svc dev`. */
  develops: boolean;
  /** Folder of the config file. */
  dir: string;
}

export interface Alias {
  name: string;
  /** Appended to the value, for variables of LangGraph Server whose names contain the unit. */
  unit?: 's' | 'b';
}

export interface SettingDefinition<T> {
  variable: `SVC_${string}`;
  /** Names of LangGraph Server, read in this order when the variable is not set. */
  aliases?: readonly Alias[];
  /** Without a placeholder the flag takes no value and means true. */
  flag?: { name: `--${string}`; placeholder?: string; short?: string };
  type: SettingType<T>;
  /** In text form; undefined is a value too ("none"). */
  default: string | undefined | ((machine: Machine) => string);
  /** For the table, when the default is computed or undefined. */
  defaultDoc?: string;
  doc: string;
}

export function setting<T>(definition: SettingDefinition<T>): SettingDefinition<T> {
  return definition;
}

// One setting, as data.
import type { SettingType } from './setting-type.ts';

/** What defaults may depend on. */
export interface Machine {
  cores: number;
  /** Whether the log goes to a terminal. */
  terminal: boolean;
  /** Whether it serves someone who develops (`svc dev`). */
  develops: boolean;
  /** Where the config file is. */
  dir: string;
}

export interface Alias {
  name: string;
  /** Appended to the value, for stock variables that carry their unit in the name. */
  unit?: 's' | 'b';
}

export interface SettingDefinition<T> {
  variable: `SVC_${string}`;
  /** Stock spellings, read in this order when the variable is not set. */
  aliases?: readonly Alias[];
  /** Without a placeholder it takes no value: to name it is to say true. */
  flag?: { name: `--${string}`; placeholder?: string; short?: string };
  type: SettingType<T>;
  /** In the text form a user would write; undefined is a value of its own ("none"). */
  default: string | undefined | ((machine: Machine) => string);
  /** For the table, where the default is computed or absent. */
  defaultDoc?: string;
  doc: string;
}

export function setting<T>(definition: SettingDefinition<T>): SettingDefinition<T> {
  return definition;
}

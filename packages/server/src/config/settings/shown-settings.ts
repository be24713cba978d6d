import { settingDefinitions, settingKeys, type SettingKey } from './definitions.ts';
import type { Settings } from './settings.ts';

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

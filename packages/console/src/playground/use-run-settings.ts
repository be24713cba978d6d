import type { RunOptions } from '@svc/sdk';
import { useState } from 'react';
import { noSettings, readSettings, type RunSettings } from './run-settings.ts';

interface ReadSettings {
  /** As they were typed. */
  settings: RunSettings;
  setSettings: (settings: RunSettings) => void;
  options: RunOptions;
  problem: string | undefined;
}

/** The settings of an assistant: another one begins without any. In a comparison they are those of both, whichever they are. */
export const useRunSettings = (assistantId: string, isComparison: boolean): ReadSettings => {
  const [kept, setKept] = useState({ assistantId, settings: noSettings });
  const isOther = !isComparison && kept.assistantId !== assistantId;
  // Not only hidden: a comparison would send them.
  if (isOther) setKept({ assistantId, settings: noSettings });
  const settings = isOther ? noSettings : kept.settings;
  const read = readSettings(settings);
  return {
    settings,
    setSettings: (changed) => setKept({ assistantId, settings: changed }),
    options: 'options' in read ? read.options : {},
    problem: 'problem' in read ? read.problem : undefined,
  };
};

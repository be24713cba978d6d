import type { Assistant, RunOptions } from '@svc/sdk';
import { useState } from 'react';
import { objectDraft, type ObjectDraft, readObject } from '../graph/object-draft.ts';
import { isObject } from '../messages/read-messages.ts';

/** What a person sets for the runs of the playground, as it was typed. An object that was not touched is undefined. */
export interface RunSettings {
  configurable: ObjectDraft | undefined;
  context: ObjectDraft | undefined;
  /** Nodes before which a run stops, with commas between. */
  stopBefore: string;
}

export const noSettings: RunSettings = { configurable: undefined, context: undefined, stopBefore: '' };

const untouched: ObjectDraft = { as: 'json', text: '' };

export const readSettings = ({
  configurable = untouched,
  context = untouched,
  stopBefore,
}: RunSettings): { options: RunOptions } | { problem: string } => {
  const config = readObject(configurable);
  if ('problem' in config) return { problem: `Configurable: ${config.problem}` };
  if (config.value !== undefined && !isObject(config.value))
    return { problem: 'Configurable must be an object.' };
  const given = readObject(context);
  if ('problem' in given) return { problem: `Context: ${given.problem}` };
  const nodes = stopBefore.split(/[\s,]+/).filter((name) => name !== '');
  return {
    options: {
      ...(config.value === undefined ? {} : { config: { configurable: config.value } }),
      ...(given.value === undefined ? {} : { context: given.value as RunOptions['context'] }),
      ...(nodes.length === 0 ? {} : { interrupt_before: nodes }),
    },
  };
};

interface ReadSettings {
  /** As they were typed. */
  settings: RunSettings;
  setSettings: (settings: RunSettings) => void;
  options: RunOptions;
  problem: string | undefined;
}

const settingsOf = ({ config: { configurable }, context }: Assistant): RunSettings => ({
  ...noSettings,
  configurable: objectDraft(configurable, undefined),
  context: objectDraft(context, undefined),
});

/**
 * The run settings of an assistant, which begin with those of an earlier version, if one is chosen. Choosing another assistant clears them,
 * except in a comparison, where both assistants share them.
 */
export const useRunSettings = (
  assistantId: string,
  isComparison: boolean,
  version: Assistant | undefined,
): ReadSettings => {
  const name = `${assistantId} ${version?.version ?? ''}`;
  const initial = version ? settingsOf(version) : noSettings;
  const [kept, setKept] = useState({ name, settings: initial });
  const isOther = !isComparison && kept.name !== name;
  // They are cleared, not only hidden, because a comparison would send them.
  if (isOther) setKept({ name, settings: initial });
  const settings = isOther ? initial : kept.settings;
  const read = readSettings(settings);
  const options = 'options' in read ? read.options : {};
  return {
    settings,
    setSettings: (changed) => setKept({ name, settings: changed }),
    options: version ? { ...options, config: { ...version.config, ...options.config } } : options,
    problem: 'problem' in read ? read.problem : undefined,
  };
};

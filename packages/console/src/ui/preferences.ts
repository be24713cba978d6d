// What a person has chosen for this browser: the colours, and the time zone of all times. Every tab has the same, also after a restart.
import { useSyncExternalStore } from 'react';

/** The first option holds until another one is chosen. */
export const preferences = {
  colors: ['system', 'light', 'dark'],
  times: ['local', 'UTC'],
} as const;

type Name = keyof typeof preferences;
type Choice<N extends Name> = (typeof preferences)[N][number];

const keyOf = (name: string): string => `svc-console-${name}`;
/** Of the window in which a choice was made; other windows get `storage`. */
const changeEvent = 'svc-console-preference';

/** Null where the browser has no storage, or does not permit it. */
export const keptText = (name: string): string | null => {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
};

export const preferenceOf = <N extends Name>(name: N): Choice<N> => {
  const options: readonly Choice<N>[] = preferences[name];
  const value = keptText(name);
  return options.find((option) => option === value) ?? (preferences[name][0] as Choice<N>);
};

export const choose = <N extends Name>(name: N, choice: Choice<N>): void => keepText(name, choice);

export const keepText = (name: string, text: string): void => {
  try {
    localStorage.setItem(keyOf(name), text);
  } catch {
    return; // The browser stores nothing: the choice cannot be kept.
  }
  dispatchEvent(new Event(changeEvent));
};

export const subscribeToPreferences = (listener: () => void): (() => void) => {
  for (const event of ['storage', changeEvent]) addEventListener(event, listener);
  return () => {
    for (const event of ['storage', changeEvent]) removeEventListener(event, listener);
  };
};

export const usePreference = <N extends Name>(name: N): Choice<N> =>
  useSyncExternalStore(subscribeToPreferences, () => preferenceOf(name));

/** For `Intl`: undefined is the time zone of the browser. */
export const chosenTimeZone = (): 'UTC' | undefined => (preferenceOf('times') === 'UTC' ? 'UTC' : undefined);

/** The style sheet chooses the colours by this attribute. */
export const applyColors = (): void => {
  document.documentElement.dataset['colors'] = preferenceOf('colors');
};

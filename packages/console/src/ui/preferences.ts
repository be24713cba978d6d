// What a person has chosen for this browser: the colours, and the time zone of all times. Every tab has the same, also after a restart.
import { useSyncExternalStore } from 'react';

/** The first option holds until another one is chosen. */
export const preferences = {
  colors: ['system', 'light', 'dark'],
  times: ['local', 'UTC'],
} as const;

type Name = keyof typeof preferences;
type Choice<N extends Name> = (typeof preferences)[N][number];

const keyOf = (name: Name): string => `svc-console-${name}`;
/** For the window in which the choice is made: browsers send `storage` to other windows only. */
const changeEvent = 'svc-console-preference';

/** Null where the browser has no storage, or does not permit it. */
const stored = (name: Name): string | null => {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
};

export const preferenceOf = <N extends Name>(name: N): Choice<N> => {
  const options: readonly Choice<N>[] = preferences[name];
  const value = stored(name);
  return options.find((option) => option === value) ?? (preferences[name][0] as Choice<N>);
};

export const choose = <N extends Name>(name: N, choice: Choice<N>): void => {
  try {
    localStorage.setItem(keyOf(name), choice);
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

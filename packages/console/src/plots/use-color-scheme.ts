import { useSyncExternalStore } from 'react';

const dark = '(prefers-color-scheme: dark)';

const subscribe = (listener: () => void): (() => void) => {
  const query = matchMedia(dark);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Changes when the browser changes between light and dark. */
export const useColorScheme = (): 'light' | 'dark' =>
  useSyncExternalStore(subscribe, () => (matchMedia(dark).matches ? 'dark' : 'light'));

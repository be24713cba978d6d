import { useState } from 'react';

const prefix = 'svc-console-';

const stored = (key: string): string | undefined => sessionStorage.getItem(prefix + key) ?? undefined;

const store = (key: string, text: string, initial: string): void => {
  if (text === initial) return sessionStorage.removeItem(prefix + key);
  try {
    sessionStorage.setItem(prefix + key, text);
  } catch {
    // The storage of the tab is full: the draft lasts until the reload.
  }
};

/** A text that survives a reload of the page, and ends with the tab. `key` names the object of the draft. */
export const useDraft = (key: string, initial: string): [string, (text: string) => void] => {
  const [draft, setDraft] = useState(() => ({ key, text: stored(key) ?? initial }));
  const text = draft.key === key ? draft.text : (stored(key) ?? initial);
  const change = (changed: string): void => {
    store(key, changed, initial);
    setDraft({ key, text: changed });
  };
  return [text, change];
};

import { useState } from 'react';

const prefix = 'svc-console-';
/** A longer draft lasts until the reload: the storage of a tab has room for a few millions of characters. */
const charsMax = 200_000;

const stored = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : (sessionStorage.getItem(prefix + key) ?? undefined);

const store = (key: string | undefined, text: string, initial: string): void => {
  if (key === undefined) return;
  if (text === initial || text.length > charsMax) return sessionStorage.removeItem(prefix + key);
  try {
    sessionStorage.setItem(prefix + key, text);
  } catch {
    // The storage of the tab is full: the draft lasts until the reload.
  }
};

export type ChangeDraft = (change: string | ((now: string) => string)) => void;

/**
 * A text that survives a reload of the page, and ends with the tab. `key` names the object of the draft; without a key, the text is not
 * stored. A change to `initial` removes what is stored: after the text was sent.
 */
export const useDraft = (key: string | undefined, initial: string): [string, ChangeDraft] => {
  const [draft, setDraft] = useState(() => ({ key, text: stored(key) ?? initial }));
  const textOf = (now: typeof draft): string => (now.key === key ? now.text : (stored(key) ?? initial));
  const change: ChangeDraft = (changed) => {
    // Stored at once, outside of the state update: React drops updates of a component that was removed, because its text was sent.
    if (typeof changed === 'string') {
      store(key, changed, initial);
      return setDraft({ key, text: changed });
    }
    setDraft((now) => {
      const text = changed(textOf(now));
      store(key, text, initial);
      return { key, text };
    });
  };
  return [textOf(draft), change];
};

/** A draft of several fields. */
export const useFieldsDraft = <Fields extends object>(
  key: string | undefined,
  initial: Fields,
): [Fields, (fields: Fields) => void] => {
  const [text, setText] = useDraft(key, JSON.stringify(initial));
  return [JSON.parse(text) as Fields, (fields) => setText(JSON.stringify(fields))];
};

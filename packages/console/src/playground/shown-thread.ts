// The thread and the assistant of what a column shows.
import { useEffect, useLayoutEffect, useRef } from 'react';

export interface ShownThread {
  /** Returns a function that is true until the column shows another thread or assistant, or the person leaves the page. */
  watch: () => () => boolean;
  /** The column continues on a thread that it has created. */
  created: (threadId: string) => void;
}

/** Clears the column when the address has another assistant or thread, as after Back. */
export const useShownThread = ({
  assistantId,
  threadId,
  clear,
}: {
  assistantId: string;
  threadId: string | undefined;
  clear: () => void;
}): ShownThread => {
  const nameOf = (thread: string | undefined): string => `${assistantId} ${thread ?? ''}`;
  const name = nameOf(threadId);
  const shown = useRef(name);
  // Counts the changes: the person may have come back to the same thread meanwhile.
  const changes = useRef(0);
  const clearNow = useRef(clear);
  clearNow.current = clear;
  // Before the page is drawn: the conversation of the other thread would be visible for a moment.
  useLayoutEffect(() => {
    if (shown.current !== name) {
      changes.current += 1;
      clearNow.current();
    }
    shown.current = name;
  }, [name]);
  useEffect(
    () => () => {
      changes.current += 1;
    },
    [],
  );
  return {
    watch: () => {
      const before = changes.current;
      return () => changes.current === before;
    },
    created: (created) => {
      shown.current = nameOf(created);
    },
  };
};

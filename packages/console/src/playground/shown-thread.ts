// The thread and the assistant of what a column shows.
import { useLayoutEffect, useRef } from 'react';

export interface ShownThread {
  isSame: () => boolean;
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
  const clearNow = useRef(clear);
  clearNow.current = clear;
  // Before the page is drawn: the conversation of the other thread would be visible for a moment.
  useLayoutEffect(() => {
    if (shown.current !== name) clearNow.current();
    shown.current = name;
  }, [name]);
  return {
    isSame: () => shown.current === name,
    created: (created) => {
      shown.current = nameOf(created);
    },
  };
};

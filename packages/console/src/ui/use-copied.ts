import { useEffect, useState } from 'react';

const shownMs = 1_500;

/** `copy` handles the click of a button. `isCopied` is true for a moment afterwards. */
export const useCopied = (text: string): { isCopied: boolean; copy: () => void } => {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => setCopied(true));
  };
  return { isCopied, copy };
};

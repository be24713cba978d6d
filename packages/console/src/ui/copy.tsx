import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from './icons.tsx';

/** The start of an id, or another short form of it; a click copies all of it. */
export const CopyId = ({
  id,
  label = 'id',
  shown = id.slice(0, 8),
}: {
  id: string;
  label?: string;
  shown?: string;
}): ReactNode => {
  const { isCopied, copy } = useCopied(id);
  return (
    <button
      type="button"
      className="copy-id"
      title={`Copy ${id}`}
      aria-label={isCopied ? `Copied ${label}` : `Copy ${label} ${id}`}
      onClick={copy}
    >
      {shown}
      <Icon name={isCopied ? 'check' : 'copy'} size={12} />
    </button>
  );
};

const shownMs = 1_500;

/** `copy` handles the click of a button. `isCopied` is true for a moment afterwards. */
const useCopied = (text: string): { isCopied: boolean; copy: () => void } => {
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

/** A text of any length, of which a part may be shown; a click copies all of it. */
export const CopyText = ({
  text,
  shown = text,
  label,
}: {
  text: string;
  shown?: string;
  /** The name of the text, where the text itself does not say it. */
  label?: string;
}): ReactNode => {
  const { isCopied, copy } = useCopied(text);
  return (
    <button type="button" className="copy-id" onClick={copy}>
      {label !== undefined && (
        <span className="visually-hidden">
          {isCopied ? 'Copied' : 'Copy'} {label}{' '}
        </span>
      )}
      {shown}
      <Icon name={isCopied ? 'check' : 'copy'} size={12} />
    </button>
  );
};

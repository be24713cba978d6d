import { useEffect, useState, type ReactNode } from 'react';
import { Icon } from './icons.tsx';

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
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      className="copy-id"
      onClick={(event) => {
        event.stopPropagation();
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
    >
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

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
  label: string;
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
      aria-label={isCopied ? `Copied ${label}` : `Copy ${label}`}
      onClick={(event) => {
        event.stopPropagation();
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
    >
      {shown}
      <Icon name={isCopied ? 'check' : 'copy'} size={12} />
    </button>
  );
};

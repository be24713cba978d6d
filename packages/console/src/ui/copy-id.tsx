import { useEffect, useState, type ReactNode } from 'react';
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
      title={`Copy ${id}`}
      aria-label={isCopied ? `Copied ${label}` : `Copy ${label} ${id}`}
      onClick={(event) => {
        event.stopPropagation();
        void navigator.clipboard.writeText(id).then(() => setCopied(true));
      }}
    >
      {shown}
      <Icon name={isCopied ? 'check' : 'copy'} size={12} />
    </button>
  );
};

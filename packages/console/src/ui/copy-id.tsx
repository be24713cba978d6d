import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import { useCopied } from './use-copied.ts';

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

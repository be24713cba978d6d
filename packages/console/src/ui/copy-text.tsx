import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import { useCopied } from './use-copied.ts';

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

import type { ReactNode } from 'react';
import { visibleText } from '../ui/visible-text.ts';
import { inlineJson } from './inline-json.ts';

const charsMax = 60;

/** Metadata of an object as `key = value`. `linkOf`: a link that filters the list by the pair; undefined without one. */
export const MetadataChips = ({
  metadata,
  max = 50,
  linkOf,
}: {
  metadata: Readonly<Record<string, unknown>>;
  /** Chips that are shown. */
  max?: number;
  linkOf?: (key: string, value: unknown, text: string) => ReactNode;
}): ReactNode => {
  const pairs = Object.entries(metadata);
  return (
    <span className="chips">
      {pairs.slice(0, max).map(([key, value]) => {
        const shown = typeof value === 'string' ? value : inlineJson(value, charsMax);
        const text = visibleText(`${key.slice(0, charsMax)} = ${shown.slice(0, charsMax)}`);
        return (
          <span key={key} title={text}>
            {linkOf?.(key, value, text) ?? <span className="metadata-chip">{text}</span>}
          </span>
        );
      })}
      {pairs.length > max && <span className="muted">+{pairs.length - max}</span>}
    </span>
  );
};

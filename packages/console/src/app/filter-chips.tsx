import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { MetadataChips } from '../values/metadata-chips.tsx';
import { pairOf, withPair } from './metadata-filter.ts';

const shownMax = 4;

/** Metadata in a row of a list: a click adds a pair to the filter of the list. */
export const FilterChips = ({
  list,
  metadata,
}: {
  list: '/runs' | '/threads';
  metadata: Readonly<Record<string, unknown>>;
}): ReactNode => (
  <MetadataChips
    metadata={metadata}
    max={shownMax}
    linkOf={(key, value, text) =>
      pairOf(key, value) === undefined ? undefined : (
        <Link
          from={list}
          to="."
          search={(search) => ({ ...search, meta: withPair(search.meta, key, value), page: undefined })}
          className="metadata-chip"
        >
          {text}
        </Link>
      )
    }
  />
);

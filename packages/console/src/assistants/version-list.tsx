import { Link } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import './versions.css';

export const VersionList = ({
  versions,
  selected,
  current,
  onMore,
}: {
  versions: readonly Assistant[];
  selected: Assistant;
  current: number;
  onMore: (() => void) | undefined;
}): ReactNode => (
  <nav className="split-list" aria-label="Versions, newest first" tabIndex={0}>
    {versions.map(({ version, name, updated_at: updatedAt }) => (
      <Link
        key={version}
        from="/assistants/$assistantId"
        to="."
        search={{ v: String(version) }}
        className="version"
        data-row
        data-selected={version === selected.version}
      >
        <span className="row">
          <strong>Version {version}</strong>
          {version === current && (
            <span className="badge" data-tone="green">
              current
            </span>
          )}
          <span className="spread muted">
            <Ago at={updatedAt} />
          </span>
        </span>
        <span className="muted">{visibleText(name)}</span>
      </Link>
    ))}
    {onMore && (
      <div className="load-more">
        <button type="button" className="button" onClick={onMore}>
          Load older versions
        </button>
      </div>
    )}
  </nav>
);

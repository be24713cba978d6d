import { getRouteApi } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import type { ReactNode } from 'react';
import { JsonChanges } from '../values/json-changes.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../values/visible-text.ts';

const route = getRouteApi('/assistants/$assistantId');

/** What a version consists of, without its number and times. */
const contentOf = ({ name, description, config, context, metadata }: Assistant) => ({
  name,
  description,
  config,
  context,
  metadata,
});

export const VersionView = ({
  versions,
  selected,
  base,
  current,
  onMakeCurrent,
}: {
  versions: readonly Assistant[];
  selected: Assistant;
  /** The version that the selected one is compared with; the one before it when undefined. */
  base: Assistant | undefined;
  current: number;
  onMakeCurrent: () => void;
}): ReactNode => {
  const navigate = route.useNavigate();
  const before = base ?? versions.find(({ version }) => version < selected.version);
  const others = versions.filter(({ version }) => version !== selected.version);
  return (
    <section className="split-detail" aria-label={`Version ${selected.version}`} tabIndex={0}>
      <header className="row">
        <h2>Version {selected.version}</h2>
        {selected.version === current ? (
          <span className="badge" data-tone="green">
            current
          </span>
        ) : (
          <button type="button" className="button spread" onClick={onMakeCurrent}>
            Make current…
          </button>
        )}
      </header>
      {before && (
        <div className="stack">
          <label className="row">
            Changes since
            <select
              className="field"
              value={String(before.version)}
              onChange={(event) =>
                void navigate({
                  search: { v: String(selected.version), w: event.target.value },
                  replace: true,
                })
              }
            >
              {others.map(({ version }) => (
                <option key={version} value={String(version)}>
                  version {version}
                </option>
              ))}
            </select>
          </label>
          <JsonChanges before={contentOf(before)} after={contentOf(selected)} />
        </div>
      )}
      <h2>Content</h2>
      <dl className="facts">
        <dt>Name</dt>
        <dd>{visibleText(selected.name)}</dd>
        <dt>Description</dt>
        <dd>{visibleText(selected.description ?? 'none')}</dd>
        <dt>Config</dt>
        <dd>
          <JsonTree value={selected.config} openDepth={2} />
        </dd>
        <dt>Context</dt>
        <dd>
          <JsonTree value={selected.context} openDepth={2} />
        </dd>
        <dt>Metadata</dt>
        <dd>
          <JsonTree value={selected.metadata} openDepth={2} />
        </dd>
      </dl>
    </section>
  );
};

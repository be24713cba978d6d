import type { Assistant } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { Button } from '../ui/button.tsx';
import { AskFirst } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { Fact } from '../ui/panel.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonChanges } from '../values/json-changes.tsx';
import { JsonTree } from '../values/json-tree.tsx';

const route = getRouteApi('/assistants/$assistantId');

/** What a version consists of, without its number and times. */
const contentOf = ({ name, description, config, context, metadata }: Assistant) => ({
  name,
  description,
  config,
  context,
  metadata,
});

/** A version beside the list: what it has changed, and what it consists of. */
export const VersionView = ({
  versions,
  selected,
  base,
  assistant,
}: {
  versions: readonly Assistant[];
  selected: Assistant;
  /** The version that the selected one is compared with; the one before it when undefined. */
  base: Assistant | undefined;
  /** Its version is the current one. */
  assistant: Assistant;
}): ReactNode => {
  const navigate = route.useNavigate();
  const before = base ?? versions.find(({ version }) => version < selected.version);
  const others = versions.filter(({ version }) => version !== selected.version);
  return (
    <section className="split-detail" aria-label={`Version ${selected.version}`} tabIndex={0}>
      <header className="row">
        <h2>Version {selected.version}</h2>
        {selected.version === assistant.version ? (
          <span className="badge" data-tone="green">
            current
          </span>
        ) : (
          <MakeCurrent key={selected.version} assistant={assistant} version={selected.version} />
        )}
        <Link
          className={selected.version === assistant.version ? 'button spread' : 'button'}
          to="/playground"
          search={{
            assistant: assistant.assistant_id,
            version: selected.version === assistant.version ? undefined : String(selected.version),
          }}
        >
          <Icon name="playground" size={14} /> Run this version
        </Link>
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
        <Fact name="Name" value={visibleText(selected.name)} />
        <Fact name="Description" value={visibleText(selected.description || 'none')} />
        <Fact name="Config" value={<JsonTree value={selected.config} openDepth={2} />} />
        <Fact name="Context" value={<JsonTree value={selected.context} openDepth={2} />} />
        <Fact name="Metadata" value={<JsonTree value={selected.metadata} openDepth={2} />} />
      </dl>
    </section>
  );
};

const MakeCurrent = ({ assistant, version }: { assistant: Assistant; version: number }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () => client.assistants.setLatest(assistant.assistant_id, version),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['assistants'] }),
  });
  return (
    <AskFirst
      trigger={(ask) => (
        <Button className="button spread" onClick={ask}>
          Make current…
        </Button>
      )}
      title={`Make version ${version} the current one?`}
      action={`Make version ${version} current`}
      request={change}
    >
      <p>
        Runs that are created from now on use version {version} instead of version {assistant.version}. Other
        versions stay.
      </p>
    </AskFirst>
  );
};

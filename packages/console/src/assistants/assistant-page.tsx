// An assistant with its versions: what one has changed since another one, and which is the current one.
import type { Assistant } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient, useServerQuery } from '../api/client.tsx';
import { usePagedQuery } from '../api/paged-query.ts';
import { CodeButton } from '../app/code-button.tsx';
import { MissingAssistant } from '../app/missing.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { DeleteButton } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { LoadOlder } from '../ui/paging.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { NewVersion } from './assistant-form.tsx';
import { VersionView } from './version-view.tsx';
import './versions.css';

const route = getRouteApi('/assistants/$assistantId');
const pollMs = 10_000;
const versionsMax = 50;

export const AssistantPage = (): ReactNode => {
  const { assistantId } = route.useParams();
  const query = useServerQuery({
    queryKey: ['assistants', assistantId, 'one'],
    read: (client, call) => client.assistants.get(assistantId, call),
    refetchInterval: pollMs,
  });
  return (
    <Loaded query={query} missing={MissingAssistant}>
      {(assistant) => <AssistantView assistant={assistant} />}
    </Loaded>
  );
};

const AssistantView = ({ assistant }: { assistant: Assistant }): ReactNode => (
  <div className="page">
    <header className="page-head">
      <h1>{visibleText(assistant.name)}</h1>
      <CopyId id={assistant.assistant_id} label="assistant id" />
      <span className="muted">
        graph {visibleText(assistant.graph_id)} · version {assistant.version}
      </span>
      <div className="page-actions">
        <CodeButton
          call={{
            method: 'GET',
            path: `/assistants/${assistant.assistant_id}`,
            sdk: { name: 'assistants.get', args: [assistant.assistant_id] },
          }}
        />
        <EditAssistant assistant={assistant} />
        <DeleteAssistant assistant={assistant} />
        <Link className="button" to="/crons" search={{ assistant: assistant.assistant_id }}>
          <Icon name="crons" size={14} /> Crons
        </Link>
        <Link className="button" to="/playground" search={{ assistant: assistant.assistant_id }}>
          <Icon name="playground" size={14} /> Open in the playground
        </Link>
      </div>
    </header>
    <Versions assistant={assistant} />
  </div>
);

const EditAssistant = ({ assistant }: { assistant: Assistant }): ReactNode => {
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <Button onClick={() => setEditing(true)}>Edit…</Button>
      {isEditing && <NewVersion assistant={assistant} onClose={() => setEditing(false)} />}
    </>
  );
};

const DeleteAssistant = ({ assistant }: { assistant: Assistant }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => client.assistants.delete(assistant.assistant_id),
    onSuccess: async () => {
      await navigate({ to: '/assistants' });
      await queries.invalidateQueries({ queryKey: ['assistants'] });
    },
  });
  return (
    <DeleteButton title="Delete this assistant?" action="Delete the assistant" request={remove}>
      <p>Its versions and its crons are deleted with it. Threads and runs stay. This cannot be undone.</p>
    </DeleteButton>
  );
};

const useVersions = (assistantId: string) => {
  const client = useClient();
  return usePagedQuery({
    queryKey: ['assistants', assistantId, 'versions'],
    read: (offset: number = 0, call) =>
      client.assistants.versions(assistantId, { limit: versionsMax, offset }, call),
    next: (page, pages) => (page.length < versionsMax ? undefined : pages.length * versionsMax),
    refetchInterval: pollMs,
  });
};

const Versions = ({ assistant }: { assistant: Assistant }): ReactNode => {
  const { v, w } = route.useSearch();
  const query = useVersions(assistant.assistant_id);
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const versions = pages.flat();
        const selected = versions.find(({ version }) => String(version) === v) ?? versions[0];
        const base = versions.find(({ version }) => String(version) === w);
        return (
          selected && (
            <div className="split">
              <VersionList
                versions={versions}
                selected={selected}
                current={assistant.version}
                query={query}
              />
              <VersionView versions={versions} selected={selected} base={base} assistant={assistant} />
            </div>
          )
        );
      }}
    </Loaded>
  );
};

const VersionList = ({
  versions,
  selected,
  current,
  query,
}: {
  versions: readonly Assistant[];
  selected: Assistant;
  current: number;
  query: ReturnType<typeof useVersions>;
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
    <LoadOlder query={query} label="Load older versions" />
  </nav>
);

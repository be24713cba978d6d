import type { Assistant, GraphSchemas, ThreadState } from '@svc/sdk';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { configurableSchema, objectDraft } from '../graph/object-draft.ts';
import { ObjectFields } from '../graph/object-fields.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { RecentThreads } from './recent-threads.tsx';
import type { RunSettings } from './run-settings.ts';

const route = getRouteApi('/playground');

const tabs = [
  { name: 'config', label: 'Config' },
  { name: 'state', label: 'State' },
  { name: 'threads', label: 'Threads' },
] as const;

export const SidePanel = ({
  assistant,
  threadId,
  schemas,
  settings,
  onSettings,
  state,
}: {
  assistant: Assistant;
  threadId: string | undefined;
  schemas: GraphSchemas | undefined;
  settings: RunSettings;
  onSettings: (settings: RunSettings) => void;
  state: ThreadState | undefined;
}): ReactNode => {
  const { panel = 'config' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <aside className="playground-side" aria-label="Settings and state">
      <Tabs
        label="Panel"
        tabs={tabs}
        active={panel}
        onChange={(next) =>
          void navigate({ search: (search) => ({ ...search, panel: next }), replace: true })
        }
      />
      <div className="playground-side-body" tabIndex={0} role="region" aria-label={panel}>
        {panel === 'config' && <ConfigForm schemas={schemas} settings={settings} onChange={onSettings} />}
        {panel === 'state' &&
          (state ? (
            <div className="stack">
              <p className="muted">
                next: <code>{state.next.length > 0 ? state.next.join(', ') : 'nothing'}</code>
              </p>
              <JsonTree value={state.values} />
            </div>
          ) : (
            <p className="muted">The thread has no state yet.</p>
          ))}
        {panel === 'threads' && <RecentThreads assistant={assistant} current={threadId} />}
      </div>
    </aside>
  );
};

export const ConfigForm = ({
  schemas,
  settings,
  onChange,
}: {
  schemas: GraphSchemas | undefined;
  settings: RunSettings;
  onChange: (settings: RunSettings) => void;
}): ReactNode => (
  <div className="form">
    <ObjectFields
      label="Configurable"
      schema={schemas?.config_schema}
      draft={settings.configurable ?? objectDraft(undefined, configurableSchema(schemas))}
      onChange={(configurable) => onChange({ ...settings, configurable })}
    />
    <ObjectFields
      label="Context"
      schema={schemas?.context_schema}
      draft={settings.context ?? objectDraft(undefined, schemas?.context_schema)}
      onChange={(context) => onChange({ ...settings, context })}
    />
    <label className="stack" style={{ gap: 4 }}>
      Stop before these nodes
      <input
        className="field"
        placeholder="names of nodes, with commas"
        value={settings.stopBefore}
        onChange={(event) => onChange({ ...settings, stopBefore: event.target.value })}
      />
    </label>
  </div>
);

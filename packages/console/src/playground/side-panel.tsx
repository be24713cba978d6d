import type { GraphSchemas, ThreadState } from '@svc/sdk';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Tabs } from '../ui/tabs.tsx';
import { JsonField } from '../values/json-field.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import type { RunSettings } from './run-settings.ts';

const route = getRouteApi('/playground');

const tabs = [
  { name: 'config', label: 'Config' },
  { name: 'state', label: 'State' },
  { name: 'schema', label: 'Schemas' },
] as const;

export const SidePanel = ({
  schemas,
  settings,
  onSettings,
  state,
}: {
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
        {panel === 'schema' && <Schemas schemas={schemas} />}
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
  <div className="stack">
    <JsonField
      label="Configurable, as JSON"
      value={settings.configurable}
      onChange={(configurable) => onChange({ ...settings, configurable })}
      rows={4}
    />
    <SchemaOf name="Schema of configurable" schema={schemas?.config_schema} />
    <JsonField
      label="Context, as JSON"
      value={settings.context}
      onChange={(context) => onChange({ ...settings, context })}
      rows={4}
    />
    <SchemaOf name="Schema of the context" schema={schemas?.context_schema} />
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

const SchemaOf = ({ name, schema }: { name: string; schema: unknown }): ReactNode =>
  schema === null || schema === undefined ? null : (
    <details>
      <summary className="muted">{name}</summary>
      <JsonTree value={schema} openDepth={2} />
    </details>
  );

const Schemas = ({ schemas }: { schemas: GraphSchemas | undefined }): ReactNode =>
  schemas === undefined ? (
    <p className="muted">The schemas are not read yet.</p>
  ) : (
    <div className="stack">
      {(['input_schema', 'output_schema', 'state_schema', 'config_schema', 'context_schema'] as const).map(
        (name) => (
          <section key={name} className="stack" style={{ gap: 4 }}>
            <h2>{name.replace('_', ' ')}</h2>
            {schemas[name] === null || schemas[name] === undefined ? (
              <p className="muted">The graph declares none.</p>
            ) : (
              <JsonTree value={schemas[name]} openDepth={2} />
            )}
          </section>
        ),
      )}
    </div>
  );

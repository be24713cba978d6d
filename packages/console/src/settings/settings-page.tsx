// The settings in force on the server that answers, and where each value comes from; and the server processes.
import { getRouteApi } from '@tanstack/react-router';
import type { ServerSetting } from '@svc/sdk';
import type { ReactNode } from 'react';
import { ForgetKey, KeyForm, KeyGate, needsOtherKey, type KeyNeed } from '../platform/key-gate.tsx';
import { usePlatformQuery } from '../platform/platform-access.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { FilterField } from '../ui/filters.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { Workers } from './workers.tsx';
import './settings.css';

const route = getRouteApi('/settings');
const settingsNeed = { what: 'Settings', role: 'admin' } as const satisfies KeyNeed;

export const SettingsPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={settingsNeed}>
      <Settings />
    </KeyGate>
  </div>
);

const tabs = [
  { name: 'settings', label: 'Settings' },
  { name: 'workers', label: 'Workers' },
] as const;

const Settings = (): ReactNode => {
  const { tab = 'settings' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <header className="page-head" data-tabs>
        <h1>Settings</h1>
        <div className="page-actions">
          {tab === 'settings' && <SettingFilter />}
          <ForgetKey />
        </div>
      </header>
      <Tabs
        label="Parts of the server"
        tabs={tabs}
        active={tab}
        onChange={(next) => void navigate({ search: next === 'workers' ? { tab: next } : {}, replace: true })}
      />
      {tab === 'workers' ? <Workers need={settingsNeed} /> : <SettingsInForce />}
    </>
  );
};

const SettingFilter = (): ReactNode => {
  const { q, only } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <label className="changed-only">
        <input
          type="checkbox"
          checked={only === 'changed'}
          onChange={({ target }) =>
            void navigate({ search: { q, only: target.checked ? 'changed' : undefined }, replace: true })
          }
        />
        Changed only
      </label>
      <FilterField
        aria-label="Filter of settings"
        placeholder="Name, value or meaning"
        data-filter
        text={q}
        onChange={(text) => void navigate({ search: { q: text, only }, replace: true })}
      />
    </>
  );
};

const SettingsInForce = (): ReactNode => {
  const { q, only } = route.useSearch();
  const query = usePlatformQuery({
    queryKey: ['workspaces', 'settings'],
    read: (client, call) => client.server.settings(call),
    staleTime: 60_000,
  });
  if (needsOtherKey(query.error)) return <KeyForm need={settingsNeed} refusal={query.error} />;
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Settings in force">
      <Loaded query={query}>
        {(settings) => (
          <DataTable
            className="settings"
            rows={settings.filter((one) => isShown(one, { q, isChangedOnly: only === 'changed' }))}
            columns={columns}
            keyOf={({ key }) => key}
            empty={<State icon="settings" title="No setting matches" />}
          />
        )}
      </Loaded>
    </div>
  );
};

const isShown = (
  { key, variable, value, origin, meaning }: ServerSetting,
  { q = '', isChangedOnly }: { q?: string | undefined; isChangedOnly: boolean },
): boolean => {
  if (isChangedOnly && origin === 'default') return false;
  return [key, variable, value, meaning].some((text) => text.toLowerCase().includes(q.toLowerCase()));
};

const columns: readonly Column<ServerSetting>[] = [
  { name: 'Setting', className: 'mono', isHeader: true, cell: ({ variable }) => variable },
  {
    name: 'Value',
    className: 'mono value',
    cell: ({ value, origin }) => (
      <span data-changed={origin === 'default' ? undefined : true}>{visibleText(value)}</span>
    ),
  },
  { name: 'From', cell: ({ origin }) => visibleText(origin) },
  { name: 'Meaning', className: 'optional meaning', cell: ({ meaning }) => <Meaning text={meaning} /> },
];

/** The meaning is written for docs/configuration.md: links are shown as their text. */
const Meaning = ({ text }: { text: string }): ReactNode =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));

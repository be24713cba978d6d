// What every page has: the rail, the bar at the top, and the keys.
import { type ErrorComponentProps, Link, Outlet, useLocation } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useThreadCount } from '../api/queries.ts';
import { Account } from '../session/account.tsx';
import { SignInGate } from '../session/sign-in-gate.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { applyColors, choose, preferences, usePreference } from '../ui/preferences.ts';
import { State } from '../ui/states.tsx';
import { apiUrl } from './addresses.ts';
import { Connection } from './connection.tsx';
import { useCurrentPage, useMenu } from './menu.ts';
import { Palette } from './palette.tsx';
import { useShortcuts } from './shortcuts.ts';
import '../ui/controls.css';
import '../ui/layout.css';
import './shell.css';

export const Shell = (): ReactNode => {
  const [overlay, setOverlay] = useState<'palette' | 'help'>();
  const [isRailOpen, setRailOpen] = useState(false);
  const openPalette = useCallback(() => setOverlay('palette'), []);
  const openHelp = useCallback(() => setOverlay('help'), []);
  const close = useCallback(() => setOverlay(undefined), []);
  useShortcuts({ onPalette: openPalette, onHelp: openHelp });
  const { pathname } = useLocation();
  useEffect(() => setRailOpen(false), [pathname]);
  useTitle(pathname);
  const colors = usePreference('colors');
  const times = usePreference('times');
  useEffect(applyColors, [colors]);
  return (
    <div className="shell" data-rail={isRailOpen}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <button
          type="button"
          className="button rail-toggle"
          data-kind="plain"
          aria-label="Menu"
          aria-expanded={isRailOpen}
          onClick={() => setRailOpen(!isRailOpen)}
        >
          <Icon name="menu" />
        </button>
        <Link to="/" className="brand">
          <span className="brand-mark" aria-hidden="true">
            <Icon name="right" size={12} />
          </span>
          svc
        </Link>
        <button type="button" className="search" onClick={openPalette}>
          <Icon name="search" size={14} />
          <span>
            Search<span className="search-more"> or paste an id</span>
          </span>
          <kbd className="kbd">Ctrl K</kbd>
        </button>
        <Connection />
        <Account />
      </header>
      <Rail onHelp={openHelp} />
      <main id="content" className="content" tabIndex={-1}>
        <SignInGate>
          {/* Another time zone mounts the page again, so that it shows all times in it. */}
          <Outlet key={times} />
        </SignInGate>
      </main>
      {overlay === 'palette' && <Palette onClose={close} />}
      {overlay === 'help' && <Help onClose={close} />}
    </div>
  );
};

const Rail = ({ onHelp }: { onHelp: () => void }): ReactNode => {
  const current = useCurrentPage();
  const waiting = useThreadCount({ has_interrupts: true });
  return (
    <nav className="rail" aria-label="Pages">
      {useMenu().map(({ to, label, icon }) => (
        <Link
          key={to}
          to={to}
          className="rail-link"
          activeOptions={{ exact: to === '/', includeSearch: false }}
          aria-current={current?.to === to ? 'page' : undefined}
        >
          <Icon name={icon} />
          {label}
          {to === '/inbox' && (waiting.data ?? 0) > 0 && (
            <span className="rail-count">
              {waiting.data}
              <span className="visually-hidden"> waiting</span>
            </span>
          )}
        </Link>
      ))}
      <div className="rail-foot">
        <Preference name="colors" label="Colours" />
        <Preference name="times" label="Times" />
        <a className="rail-link" href={`${apiUrl}/docs`} target="_blank" rel="noopener noreferrer">
          <Icon name="book" />
          API reference
        </a>
        <button type="button" className="rail-link" onClick={onHelp}>
          <kbd className="kbd">?</kbd>
          Keyboard
        </button>
      </div>
    </nav>
  );
};

const Preference = ({ name, label }: { name: keyof typeof preferences; label: string }): ReactNode => (
  <label className="rail-choice">
    {label}
    <select
      className="field"
      value={usePreference(name)}
      onChange={(event) => choose(name, event.target.value as never)}
    >
      {preferences[name].map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  </label>
);

/** The title of the tab, and the place where a screen reader continues after a change of the page. */
const useTitle = (pathname: string): void => {
  const isFirst = useRef(true);
  const label = useCurrentPage()?.label ?? 'svc';
  const waiting = useThreadCount({ has_interrupts: true }).data ?? 0;
  const title = titleOf(pathname, label, waiting);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (!isFirst.current) document.getElementById('content')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [pathname, label]);
};

/** The number of threads that wait for a person and the id of the object come first, because tabs are narrow. */
const titleOf = (pathname: string, label: string, waiting: number): string => {
  const [, id] = /^\/\w+\/([\da-f]{8})-/.exec(pathname) ?? [];
  const parts = [id, label, 'svc console'].filter((part) => part !== undefined);
  return `${waiting > 0 ? `(${waiting}) ` : ''}${parts.join(' · ')}`;
};

export const NotFound = (): ReactNode => (
  <State icon="empty" title="The console has no such page">
    <Link to="/" className="button">
      Home
    </Link>
  </State>
);

/** A page that threw while it was drawn. The rail stays. */
export const PageError = ({ error }: ErrorComponentProps): ReactNode => (
  <State icon="warning" title="This page has failed">
    <p className="muted" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
    <Button onClick={() => location.reload()}>Load it again</Button>
  </State>
);

const shortcuts = [
  ['Ctrl K', 'Search pages, assistants and ids'],
  ['/', 'Go to the filter'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Ctrl Enter', 'Send a message or an answer'],
  ['a', 'Approve or accept what a question asks for'],
  ['e r', 'Edit the arguments; respond to a question or reject it with words'],
  ['Esc', 'Close'],
] as const;

/** The sheet of all keys. */
const Help = ({ onClose }: { onClose: () => void }): ReactNode => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl className="facts">
      {[...useMenu().map(({ key, label }) => [`g ${key}`, `Go to ${label}`] as const), ...shortcuts].map(
        ([keys, meaning]) => (
          <div key={keys} style={{ display: 'contents' }}>
            <dt>
              <kbd className="kbd">{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ),
      )}
    </dl>
  </Dialog>
);

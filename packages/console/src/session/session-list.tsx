// The browsers that are signed in as this user or with this key.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ListedSession } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorNotice, Skeleton } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { session } from './session.ts';

const queryKey = ['sessions'];

export const SessionList = (): ReactNode => {
  const listed = useQuery({ queryKey, queryFn: ({ signal }) => session.list({ signal }) });
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: (id: string) => session.end(id),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (listed.data === undefined)
    return listed.error ? <ErrorNotice error={listed.error} /> : <Skeleton rows={2} />;
  return (
    <section aria-label="Sessions">
      <ErrorNotice error={end.error} />
      <ul className="session-list">
        {listed.data.map((one) => (
          <Session key={one.id} session={one} isEnding={end.isPending} onEnd={() => end.mutate(one.id)} />
        ))}
      </ul>
    </section>
  );
};

const Session = ({
  session: { browser, created_at, seen_at, is_current },
  isEnding,
  onEnd,
}: {
  session: ListedSession;
  isEnding: boolean;
  onEnd: () => void;
}): ReactNode => {
  const name = browserName(browser);
  return (
    <li>
      <div>
        {name}
        {is_current && <strong> (this browser)</strong>}
        <div className="muted">
          since <Ago at={created_at} />, last used <Ago at={seen_at} />
        </div>
      </div>
      {!is_current && (
        <Button aria-label={`End the session of ${name}`} disabled={isEnding} onClick={onEnd}>
          End
        </Button>
      )}
    </li>
  );
};

/** The order matters: Edge and Opera call themselves Chrome too, and Chrome calls itself Safari. */
const browsers: [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
];

const systems: [name: string, pattern: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];

const nameIn = (names: [string, RegExp][], text: string): string | undefined =>
  names.find(([, pattern]) => pattern.test(text))?.[0];

/** A browser as people call it, from its User-Agent. */
export const browserName = (userAgent: string | null): string => {
  if (userAgent === null || userAgent === '') return 'Unknown browser';
  const browser = nameIn(browsers, userAgent);
  if (browser === undefined) return userAgent.slice(0, 60);
  const system = nameIn(systems, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
};

// The browsers that are signed in as this user or with this key.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ListedSession } from '@svc/sdk';
import type { ReactNode } from 'react';
import { ErrorNotice, Skeleton } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { browserName } from './browser-name.ts';
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
        <button
          type="button"
          className="button"
          aria-label={`End the session of ${name}`}
          disabled={isEnding}
          onClick={onEnd}
        >
          End
        </button>
      )}
    </li>
  );
};

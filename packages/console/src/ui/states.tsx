// The four states of everything that is read from the server: loading, empty, failed, and not permitted.
import { ApiError } from '@svc/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { Button } from './button.tsx';
import { sentencesOf } from './faults.ts';
import { Icon, type IconName } from './icons.tsx';

export const State = ({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
}): ReactNode => (
  <div className="state">
    <Icon name={icon} size={28} />
    <h2>{title}</h2>
    {children}
  </div>
);

/** In place of the list that a filter would select. The children lead out of it. */
export const InvalidFilter = ({ problem, children }: { problem: string; children: ReactNode }): ReactNode => (
  <State icon="warning" title="The filter is not valid">
    <p className="muted">{problem} Nothing was searched.</p>
    {children}
  </State>
);

/** Replaces a list when its filter matches nothing. The address leads to the list without the filter. */
export const NoMatch = ({
  noun,
  children,
  ...address
}: { noun: string; children?: ReactNode } & Pick<LinkProps, 'to' | 'search'>): ReactNode => (
  <State icon="empty" title={`No ${noun} matches the filter`}>
    {children}
    <Link {...address} className="button">
      Clear the filter
    </Link>
  </State>
);

/** Lines that appear after a moment, so that fast answers do not flicker. */
export const Skeleton = ({ rows = 8 }: { rows?: number }): ReactNode => (
  <div className="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} style={{ width: `${95 - ((index * 13) % 40)}%` }} />
    ))}
  </div>
);

const statusOf = (error: Error): number | undefined => (error instanceof ApiError ? error.status : undefined);

const titleOf = (error: Error): string => {
  const status = statusOf(error);
  if (status === 404) return 'Not found';
  if (status === undefined) return 'The server cannot be reached';
  if (status < 500) return 'The server does not accept this request';
  return 'The server reports an error';
};

const Refused = ({ error }: { error: Error }): ReactNode => (
  <State icon="lock" title="Not permitted">
    <p className="muted">
      {sentencesOf(error).join(' ')} The console acts with the rights of the caller; the auth handlers of the
      project decide what it may do.
    </p>
  </State>
);

export const Failure = ({ error, onRetry }: { error: Error; onRetry?: () => void }): ReactNode => {
  const status = statusOf(error);
  if (status === 401 || status === 403) return <Refused error={error} />;
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <State icon={status === 404 ? 'empty' : 'warning'} title={titleOf(error)}>
      {sentencesOf(error).map((sentence) => (
        <p key={sentence} className="muted" role="alert">
          {sentence}
        </p>
      ))}
      {requestId !== undefined && <p className="muted mono">request {requestId}</p>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </State>
  );
};

/** A line above content that stays usable. */
export const ErrorNotice = ({ error }: { error: Error | null | undefined }): ReactNode =>
  error ? (
    <div className="notice" data-tone="red" role="alert">
      <Icon name="warning" />
      {sentencesOf(error).join(' ')}
    </div>
  ) : null;

/** Queries pause while the server is away. */
const Away = (): ReactNode => (
  <State icon="warning" title="The server cannot be reached">
    <p className="muted" role="alert">
      The page continues when the server answers again.
    </p>
  </State>
);

/** Shows the data of a query, or why there is none. `missing`: in place of an answer with 404. */
export const Loaded = <Data,>({
  query,
  missing: Missing,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isPaused'> & { refetch: () => Promise<unknown> };
  missing?: ComponentType<{ requestId?: string | undefined }>;
  children: (data: Data) => ReactNode;
}): ReactNode => {
  if (query.data !== undefined) return children(query.data);
  if (Missing && query.error instanceof ApiError && query.error.status === 404)
    return <Missing requestId={query.error.requestId} />;
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return query.isPaused ? <Away /> : <Skeleton />;
};

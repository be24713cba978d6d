// What a page shows when nothing has the id in its address.
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';

type List = '/threads' | '/runs' | '/traces' | '/exports' | '/destinations' | '/crons' | '/assistants';

interface Props {
  /** Of the request that the server has answered with 404. Absent when no request was made. */
  requestId?: string | undefined;
  /** Set by the router when the id in the address is no UUID. */
  isNotFound?: boolean;
}

const missing =
  (noun: string, list: List) =>
  ({ requestId }: Props): ReactNode => {
    const [id = ''] = Object.values<string | undefined>(useParams({ strict: false }));
    return (
      <State icon="empty" title="Not found">
        <p className="muted" role="alert">
          There is no {noun} with the id <code>{visibleText(id.slice(0, 100))}</code>.
        </p>
        {requestId !== undefined && <p className="muted mono">request {requestId}</p>}
        <Link to={list} className="button">
          All {noun}s
        </Link>
      </State>
    );
  };

export const MissingThread = missing('thread', '/threads');
export const MissingRun = missing('run', '/runs');
export const MissingTrace = missing('trace', '/traces');
export const MissingExport = missing('export', '/exports');
export const MissingDestination = missing('destination', '/destinations');
export const MissingCron = missing('cron', '/crons');
export const MissingAssistant = missing('assistant', '/assistants');

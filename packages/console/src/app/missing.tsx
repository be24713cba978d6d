// What a page shows when nothing has the id in its address.
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { State } from '../ui/states.tsx';
import { visibleText } from '../values/visible-text.ts';

type List = '/threads' | '/runs' | '/traces' | '/exports' | '/destinations' | '/crons' | '/assistants';

const missing = (noun: string, list: List) => (): ReactNode => {
  const [id = ''] = Object.values<string | undefined>(useParams({ strict: false }));
  return (
    <State icon="empty" title="Not found">
      <p className="muted" role="alert">
        There is no {noun} with the id <code>{visibleText(id.slice(0, 100))}</code>.
      </p>
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

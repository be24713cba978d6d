// When a thread expires, and what is deleted then.
import type { ReactNode } from 'react';
import { Moment, Until } from '../ui/time.tsx';
import { spanText, type ThreadTtl } from './ttl-draft.ts';

/** In the head of the page; nothing for a thread that does not expire, or has nothing left to delete. */
export const ExpirySummary = ({ ttl }: { ttl: ThreadTtl | undefined }): ReactNode => {
  const at = ttl?.expires_at ?? null;
  if (ttl === undefined || at === null) return null;
  return (
    <span className="muted">
      {ttl.strategy === 'delete' ? 'expires' : 'earlier checkpoints expire'} <Until at={at} />
    </span>
  );
};

export const Expiry = ({ ttl }: { ttl: ThreadTtl | undefined }): ReactNode => {
  if (ttl === undefined) return 'never';
  const { strategy, ttl_minutes: minutes, expires_at: at } = ttl;
  const span = spanText(minutes);
  if (at === null)
    return `${span} after the next change of the state: its earlier checkpoints are deleted then. Now nothing is left to delete.`;
  return (
    <>
      <Moment at={at} />
      <br />
      {strategy === 'delete'
        ? 'The thread is deleted then, with its runs and checkpoints.'
        : 'Its earlier checkpoints are deleted then; the current state stays.'}{' '}
      The time to live is {span}, and begins again after every run and every update of the state.
    </>
  );
};

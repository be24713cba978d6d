import type { Thread } from '@svc/sdk';
import type { ReactNode } from 'react';
import { StatusBadge } from '../ui/badge.tsx';

/** The status of a thread. An interrupted one asks, or has stopped without a question; undefined until that is known. */
export const ThreadBadge = ({
  status,
  asks,
}: {
  status: Thread['status'];
  asks: boolean | undefined;
}): ReactNode => {
  if (status !== 'interrupted' || asks === undefined) return <StatusBadge status={status} />;
  return (
    <span
      className="badge"
      data-tone={asks ? 'amber' : 'grey'}
      title={
        asks
          ? 'Waiting for an answer'
          : 'Stopped without a question: at a breakpoint, or because its run was cancelled'
      }
    >
      interrupted · {asks ? 'asks' : 'stopped'}
    </span>
  );
};

import { Link } from '@tanstack/react-router';
import type { Thread } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Moment } from '../ui/time.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../values/visible-text.ts';
import { Expiry } from './expiry.tsx';
import { ownerOf } from './thread-filter.ts';

export const ThreadDetails = ({ thread }: { thread: Thread }): ReactNode => {
  const owner = ownerOf(thread);
  return (
    <div className="page-body pad" tabIndex={0} role="region" aria-label="Details">
      <section className="panel">
        <dl className="facts pad">
          <dt>Thread</dt>
          <dd className="mono">{thread.thread_id}</dd>
          {owner !== undefined && (
            <>
              <dt>Owner</dt>
              <dd>
                <Link to="/threads" search={{ owner }} title="Show the threads of this owner">
                  {visibleText(owner)}
                </Link>
              </dd>
            </>
          )}
          <dt>Created</dt>
          <dd>
            <Moment at={thread.created_at} />
          </dd>
          <dt>State changed</dt>
          <dd>
            <Moment at={thread.state_updated_at} />
          </dd>
          <dt>Expires</dt>
          <dd>
            <Expiry ttl={thread.ttl} />
          </dd>
          <dt>Metadata</dt>
          <dd>
            <JsonTree value={thread.metadata} openDepth={2} />
          </dd>
          {thread.error !== undefined && thread.error !== null && (
            <>
              <dt>Error of the last run</dt>
              <dd>
                <JsonTree value={thread.error} />
              </dd>
            </>
          )}
        </dl>
      </section>
    </div>
  );
};

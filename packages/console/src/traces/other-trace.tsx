// Chooses the trace that another one is compared with.
import { Link } from '@tanstack/react-router';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { DataTable } from '../ui/data-table.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useLikeTraces } from './trace-queries.ts';
import { traceColumns } from './trace-table.tsx';

export const OtherTrace = ({
  client,
  left,
  name,
}: {
  client: PlatformClient;
  left: string;
  /** Of the root of the trace. */
  name: string;
}): ReactNode => {
  const query = useLikeTraces(client, left, name);
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Traces to compare with">
      <Loaded query={query}>
        {(runs) => (
          <DataTable
            rows={runs}
            columns={[
              traceColumns.status,
              {
                name: 'Compare with',
                cell: (run) => (
                  <Link to="/traces/compare" search={{ left, right: run.trace_id }} data-row>
                    {visibleText(run.name.slice(0, 80))}{' '}
                    <span className="mono">{run.trace_id.slice(0, 8)}</span>
                  </Link>
                ),
              },
              traceColumns.took,
              traceColumns.started,
            ]}
            keyOf={({ id }) => id}
            empty={
              <State icon="empty" title="There is no trace to compare with">
                <p className="muted">
                  No other trace of the project has a root with the name {visibleText(name)}.
                </p>
              </State>
            }
          />
        )}
      </Loaded>
    </div>
  );
};

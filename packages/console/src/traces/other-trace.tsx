// Chooses the trace that another one is compared with.
import { Link } from '@tanstack/react-router';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { TraceBadge } from '../ui/badge.tsx';
import { duration } from '../ui/duration.ts';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { useLikeTraces } from './trace-queries.ts';

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
        {(runs) =>
          runs.length === 0 ? (
            <State icon="empty" title="There is no trace to compare with">
              <p className="muted">
                No other trace of the project has a root with the name {visibleText(name)}.
              </p>
            </State>
          ) : (
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Status</th>
                  <th scope="col">Compare with</th>
                  <th scope="col" className="number">
                    Took
                  </th>
                  <th scope="col" className="number">
                    Started
                  </th>
                </tr>
              </thead>
              <tbody>
                {runs.map((run) => (
                  <tr key={run.id}>
                    <td>
                      <TraceBadge of={run} />
                    </td>
                    <td>
                      <Link to="/traces/compare" search={{ left, right: run.trace_id }}>
                        {visibleText(run.name.slice(0, 80))}{' '}
                        <span className="mono">{run.trace_id.slice(0, 8)}</span>
                      </Link>
                    </td>
                    <td className="number">
                      {run.start_time !== null &&
                        run.end_time !== null &&
                        duration(Date.parse(run.end_time) - Date.parse(run.start_time))}
                    </td>
                    <td className="number">{run.start_time !== null && <Ago at={run.start_time} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </div>
  );
};

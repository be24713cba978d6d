import { Link, useNavigate } from '@tanstack/react-router';
import type { TraceRun } from '@svc/sdk';
import type { ReactNode } from 'react';
import { TraceBadge } from '../ui/badge.tsx';
import { duration } from '../ui/duration.ts';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { costOf, tokensOf } from '../ui/token-text.ts';

const nameMax = 80;
const errorMax = 300;

export const TraceTable = ({ runs, label }: { runs: readonly TraceRun[]; label?: string }): ReactNode => (
  <table className="table" aria-label={label}>
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Name</th>
        <th scope="col" className="optional">
          Type
        </th>
        <th scope="col">Error</th>
        <th scope="col" className="number">
          Took
        </th>
        <th scope="col" className="number optional">
          Tokens
        </th>
        <th scope="col" className="number optional">
          Cost
        </th>
        <th scope="col" className="number">
          Started
        </th>
      </tr>
    </thead>
    <tbody>
      {runs.map((run) => (
        <TraceRow key={run.id} run={run} />
      ))}
    </tbody>
  </table>
);

const TraceRow = ({ run }: { run: TraceRun }): ReactNode => {
  const navigate = useNavigate();
  const { id, trace_id: traceId, name, start_time: start, end_time: end } = run;
  const shown = visibleText(name.slice(0, nameMax));
  const target = {
    to: '/traces/$traceId',
    params: { traceId },
    search: id === traceId ? {} : { sel: id },
  } as const;
  return (
    <tr onClick={() => void navigate(target)}>
      <td>
        <TraceBadge of={run} />
      </td>
      <td>
        <Link {...target} data-row aria-label={`Trace run ${shown}, ${id}`}>
          {shown}
        </Link>
      </td>
      <td className="optional">{visibleText(run.run_type)}</td>
      <td className="wide">{visibleText((run.error ?? '').slice(0, errorMax).split('\n')[0] ?? '')}</td>
      <td className="number">
        {start !== null && end !== null && duration(Date.parse(end) - Date.parse(start))}
      </td>
      <td className="number optional">{tokensOf(run.total_tokens)}</td>
      <td className="number optional">{costOf(run.total_cost)}</td>
      <td className="number">{start !== null && <Ago at={start} />}</td>
    </tr>
  );
};

// Runs over time: how they ended, how long they waited and took, and what their models used.
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { RunFigures } from '@svc/sdk';
import { useCallback, useMemo, type ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { runStatusNames } from '../api/statuses.ts';
import { useAccess } from '../platform/platform-access.ts';
import { momentText } from '../plots/bucket-text.ts';
import type { Buckets, PlotSeries } from '../plots/plot-series.ts';
import { Plot } from '../plots/plot.tsx';
import { plotPollMs } from '../plots/poll-ms.ts';
import { countUnit, durationAxis } from '../plots/units.ts';
import { ChoiceChips } from '../ui/filters.tsx';
import { Panel } from '../ui/panel.tsx';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { figureSpans, rangeOf, spanTitles, type FigureSpan } from './figure-spans.ts';
import { UsagePlots } from './usage-plots.tsx';

const route = getRouteApi('/');
/** The plots of the panel share a cursor. */
const syncKey = 'home';

const useRunFigures = (span: FigureSpan) =>
  useServerQuery({
    queryKey: ['figures', span],
    read: (client, call) => client.runs.figures(rangeOf(span, Date.now()), call),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => plotPollMs(state.data?.interval_seconds, state.error),
  });

export const FiguresPanel = (): ReactNode => {
  const { since: span = '1h' } = route.useSearch();
  const navigate = route.useNavigate();
  const access = useAccess();
  const query = useRunFigures(span);
  return (
    <Panel
      title={spanTitles[span]}
      label="Runs over time"
      aside={
        <ChoiceChips
          label="Time"
          className="spread"
          choices={figureSpans.map((one) => [one, one])}
          chosen={span}
          onChange={(one) =>
            void navigate({ search: { since: one === '1h' ? undefined : one }, replace: true })
          }
        />
      }
    >
      <ErrorNotice error={query.data && query.error} />
      <Loaded query={query}>
        {(figures) => (
          <>
            <Incomplete figures={figures} />
            <div className="plots">
              <RunPlots figures={figures} />
              {access && <UsagePlots client={access.client} span={span} syncKey={syncKey} />}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
};

const Incomplete = ({ figures: { complete, since } }: { figures: RunFigures }): ReactNode =>
  complete ? null : (
    <p className="muted figures-note">
      There are more runs than the server counts at once: the figures begin at {momentText(Date.parse(since))}
      .
    </p>
  );

const RunPlots = ({ figures }: { figures: RunFigures }): ReactNode => {
  const navigate = route.useNavigate();
  const { ended, wait, execution, isEmpty, ...buckets } = useMemo(() => runPlots(figures), [figures]);
  const openRuns = useCallback(
    (fromMs: number, toMs: number) =>
      void navigate({
        to: '/runs',
        search: { ended_from: new Date(fromMs).toISOString(), ended_to: new Date(toMs).toISOString() },
      }),
    [navigate],
  );
  if (isEmpty) return <p className="muted">No run was created or ended in this time.</p>;
  const times = { ...buckets, kind: 'lines', ...durationAxis, syncKey } as const;
  return (
    <>
      <Plot
        {...buckets}
        title="Ended runs"
        kind="stacked"
        unit={countUnit}
        series={ended}
        syncKey={syncKey}
        onPick={openRuns}
      />
      <Plot {...times} title="Wait until the first attempt" series={wait} onPick={openRuns} />
      <Plot {...times} title="Duration from the first attempt" series={execution} onPick={openRuns} />
    </>
  );
};

/** The series of the plots of runs, from what the server counts. */
interface RunSeries extends Buckets {
  ended: PlotSeries[];
  wait: PlotSeries[];
  execution: PlotSeries[];
  /** No run was created or ended. */
  isEmpty: boolean;
}

type Measured = 'wait_ms' | 'execution_ms';

export const runPlots = ({ points, interval_seconds: seconds }: RunFigures): RunSeries => {
  const percentiles = (measured: Measured): PlotSeries[] => [
    { label: 'p50', tone: 'blue', values: points.map(({ [measured]: found }) => found?.p50 ?? null) },
    {
      label: 'p95',
      tone: 'amber',
      isDashed: true,
      values: points.map(({ [measured]: found }) => found?.p95 ?? null),
    },
  ];
  return {
    times: points.map(({ at }) => Date.parse(at)),
    bucketMs: seconds * 1_000,
    ended: [
      { label: 'success', tone: 'green', values: points.map(({ success }) => success) },
      {
        label: runStatusNames.interrupted,
        tone: 'muted',
        values: points.map(({ interrupted }) => interrupted),
      },
      { label: 'timeout', tone: 'amber', values: points.map(({ timeout }) => timeout) },
      { label: 'error', tone: 'red', values: points.map(({ error }) => error) },
    ],
    wait: percentiles('wait_ms'),
    execution: percentiles('execution_ms'),
    isEmpty: points.every(
      ({ created, success, interrupted, timeout, error }) =>
        created + success + interrupted + timeout + error === 0,
    ),
  };
};

// A plot over time: lines or stacked bars, with a legend and a table of the same rows.
import { lazy, memo, Suspense, useMemo, useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { bucketText } from './bucket-text.ts';
import type { PlotContent } from './plot-options.ts';
import { isEmptyPlot, plotRows, valueText, type PlotKind, type PlotSeries } from './plot-series.ts';
import './plot.css';

const PlotCanvas = lazy(async () => ({ default: (await import('./plot-canvas.tsx')).PlotCanvas }));

export interface PlotProps {
  title: string;
  /** Writes a value: in the legend, on the axis and in the table. */
  unit: (value: number) => string;
  /** Start of each bucket in milliseconds, ascending. */
  times: readonly number[];
  bucketMs: number;
  /** The labels are unique. Stacked series are drawn from the bottom up. */
  series: readonly PlotSeries[];
  kind: PlotKind;
  /** Called with a bucket that was clicked, or chosen in the table. */
  onPick?: ((fromMs: number, toMs: number) => void) | undefined;
  /** Plots with the same key share their cursor. */
  syncKey?: string | undefined;
  /** Distances between the ticks of the values, ascending; whole numbers for whole values when absent. */
  steps?: readonly number[] | undefined;
  /** The axis of the values reaches at least this one. */
  leastMax?: number | undefined;
}

export const Plot = ({
  title,
  unit,
  times,
  bucketMs,
  series,
  kind,
  onPick,
  syncKey,
  steps,
  leastMax,
}: PlotProps): ReactNode => {
  const [cursor, setCursor] = useState<number>();
  const [isOpen, setIsOpen] = useState(false);
  // The cursor renders the legend anew, and not the table.
  const content = useMemo<PlotContent>(
    () => ({ kind, times, bucketMs, series, unit, steps, leastMax }),
    [kind, times, bucketMs, series, unit, steps, leastMax],
  );
  return (
    <figure className="plot">
      <figcaption>{title}</figcaption>
      <PlotLegend content={content} cursor={cursor} />
      <div className="plot-box">
        <Suspense fallback={null}>
          <PlotCanvas content={content} syncKey={syncKey} onCursor={setCursor} onPick={onPick} />
        </Suspense>
        {isEmptyPlot(kind, series) && <p className="plot-empty muted">Nothing in this time.</p>}
      </div>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Show as a table</summary>
        {isOpen && <PlotTable title={title} content={content} onPick={onPick} />}
      </details>
    </figure>
  );
};

/** The values of the bucket below the cursor. */
const PlotLegend = ({
  content: { series, unit, times, bucketMs },
  cursor,
}: {
  content: PlotContent;
  cursor: number | undefined;
}): ReactNode => {
  const fromMs = cursor === undefined ? undefined : times[cursor];
  return (
    <div className="plot-legend">
      <ul>
        {series.map(({ label, tone, values, isDashed }) => (
          <li key={label}>
            <span className="plot-mark" data-tone={tone} data-dashed={isDashed} />
            {label}
            {cursor !== undefined && <strong>{valueText(values[cursor], unit)}</strong>}
          </li>
        ))}
      </ul>
      {fromMs !== undefined && <span className="plot-time">{bucketText(bucketMs).bucket(fromMs)}</span>}
    </div>
  );
};

interface PlotTableProps {
  title: string;
  content: PlotContent;
  onPick: ((fromMs: number, toMs: number) => void) | undefined;
}

/** The buckets of a plot as rows. The time of a bucket is a button where a click on the plot leads somewhere. */
const PlotTable = memo(({ title, content, onPick }: PlotTableProps): ReactNode => {
  const { series, unit, bucketMs } = content;
  const { bucket } = bucketText(bucketMs);
  return (
    <div className="plot-rows" tabIndex={0} role="region" aria-label={`${title}, rows`}>
      <DataTable
        label={title}
        rows={plotRows(content, series, unit)}
        columns={[
          {
            name: 'Time',
            isHeader: true,
            cell: ({ fromMs }) =>
              onPick ? (
                <Button kind="plain" onClick={() => onPick(fromMs, fromMs + bucketMs)}>
                  {bucket(fromMs)}
                </Button>
              ) : (
                bucket(fromMs)
              ),
          },
          ...series.map(({ label }, index) => ({
            name: label,
            className: 'number',
            cell: ({ cells }: { cells: readonly string[] }) => cells[index],
          })),
        ]}
        keyOf={({ fromMs }) => fromMs}
      />
    </div>
  );
});

import { memo, type ReactNode } from 'react';
import { bucketText } from './bucket-text.ts';
import type { PlotContent } from './plot-options.ts';
import { plotRows } from './plot-series.ts';

interface PlotTableProps {
  title: string;
  content: PlotContent;
  onPick: ((fromMs: number, toMs: number) => void) | undefined;
}

/** The buckets of a plot as rows. The time of a bucket is a button where a click on the plot leads somewhere. */
export const PlotTable = memo(({ title, content, onPick }: PlotTableProps): ReactNode => {
  const { series, unit, bucketMs } = content;
  const { bucket } = bucketText(bucketMs);
  return (
    <div className="plot-rows" tabIndex={0} role="region" aria-label={`${title}, rows`}>
      <table className="table" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col" className="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {plotRows(content, series, unit).map(({ fromMs, cells }) => (
            <tr key={fromMs}>
              <th scope="row">
                {onPick ? (
                  <button
                    type="button"
                    className="button"
                    data-kind="plain"
                    onClick={() => onPick(fromMs, fromMs + bucketMs)}
                  >
                    {bucket(fromMs)}
                  </button>
                ) : (
                  bucket(fromMs)
                )}
              </th>
              {cells.map((cell, index) => (
                <td key={series[index]?.label} className="number">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
});

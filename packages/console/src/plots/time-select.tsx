import type { ReactNode } from 'react';
import { rangeText } from './range-text.ts';
import { timeSpans, type TimeSpan } from './time-span.ts';

/** A choice of spans until now. A range of the address, which a plot leads to, is one of the options. */
export const TimeSelect = ({
  label,
  names = 'Last',
  hasAnyTime = true,
  time: { since, from, to },
  onChange,
}: {
  label: string;
  /** The words before a span: `Last`, or `Created in the last` where the page does not show which time is filtered. */
  names?: string;
  hasAnyTime?: boolean;
  time: TimeSpan;
  onChange: (time: TimeSpan) => void;
}): ReactNode => {
  const range = rangeText(from, to);
  return (
    <select
      className="field"
      aria-label={label}
      value={range === undefined ? (since ?? '') : 'range'}
      onChange={(event) =>
        onChange({
          since: (event.target.value || undefined) as TimeSpan['since'],
          from: undefined,
          to: undefined,
        })
      }
    >
      {range !== undefined && <option value="range">{range}</option>}
      {hasAnyTime && <option value="">Any time</option>}
      {Object.keys(timeSpans).map((span) => (
        <option key={span} value={span}>
          {names} {span}
        </option>
      ))}
    </select>
  );
};

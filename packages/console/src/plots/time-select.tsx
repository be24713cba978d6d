import type { ReactNode } from 'react';
import { FilterSelect } from '../ui/filters.tsx';
import { rangeText } from './bucket-text.ts';
import { type TimeSpan, timeSpans } from './time-span.ts';

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
    <FilterSelect
      label={label}
      choices={[
        ...(range === undefined ? [] : [['range', range] as const]),
        ...(hasAnyTime ? [['', 'Any time'] as const] : []),
        ...Object.keys(timeSpans).map((span) => [span, `${names} ${span}`] as const),
      ]}
      chosen={range === undefined ? since : 'range'}
      onChange={(chosen) => onChange({ since: chosen as TimeSpan['since'], from: undefined, to: undefined })}
    />
  );
};

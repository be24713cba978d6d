import type { ReactNode } from 'react';
import './progress-bar.css';

export const ProgressBar = ({
  value,
  max = 100,
  label,
  tone = 'blue',
}: {
  value: number;
  max?: number;
  label: string;
  tone?: 'green' | 'red' | 'blue' | 'grey';
}): ReactNode => (
  <progress className="progress-bar" data-tone={tone} max={max} value={value} aria-label={label} />
);

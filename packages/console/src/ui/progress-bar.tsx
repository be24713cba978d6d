import type { ReactNode } from 'react';
import './progress-bar.css';

export const ProgressBar = ({
  value,
  max = 100,
  label,
}: {
  value: number;
  max?: number;
  label: string;
}): ReactNode => <progress className="progress-bar" max={max} value={value} aria-label={label} />;

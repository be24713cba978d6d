// Figures of measurements.

/** Records a figure with its goal. */
export type Report = (what: string, goal: string, measured: string) => void;

export const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

export const fixed = (number: number, digits = 2): string => number.toFixed(digits);

/** `part`: 0.99 for the 99th percentile. */
export const percentile = (numbers: number[], part: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? 0;

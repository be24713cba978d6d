// Icons of 16 × 16, drawn with lines in the colour of the text.
import type { ReactNode } from 'react';

const paths = {
  home: 'M2.5 7 8 2.5 13.5 7v6a.5.5 0 0 1-.5.5H9.75v-4h-3.5v4H3a.5.5 0 0 1-.5-.5z',
  playground: 'M3 3.5h10v7H8.5L5.5 13v-2.5H3z',
  inbox: 'M2.5 9 4 3.5h8L13.5 9v3.5h-11zM2.5 9h3l1 1.5h3l1-1.5h3',
  threads: 'M4 3v7.5a2 2 0 0 0 2 2h2M4 6h4M12 3.75a1.75 1.75 0 1 1-3.5 0M8.5 6H12v2.5H8.5zM8 11.25h4v2.5H8z',
  runs: 'M5 3.5v9l7.5-4.5z',
  traces: 'M2.5 3.5h7M4.5 8h8M6.5 12.5h7',
  store: 'M3 4.5c0-2.7 10-2.7 10 0v7c0 2.7-10 2.7-10 0zM3 4.5c0 2.7 10 2.7 10 0M3 8c0 2.7 10 2.7 10 0',
  crons: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  webhooks: 'M2.5 8h7.5M6.5 4.5 10 8l-3.5 3.5M13.5 3v10',
  jobs: 'm2.5 4 1.25 1.25L6 3M2.5 8.5l1.25 1.25L6 7.5M8.5 4.25h5M8.5 8.75h5M2.5 13h11',
  assistants: 'M4 6.5h8v6H4zM8 6.5V3.5M6.25 9v.5M9.75 9v.5M2.5 8.5v2M13.5 8.5v2',
  exports: 'M2.5 10v3.5h11V10M8 10V2.5M5 5.5l3-3 3 3',
  keys: 'M7 9.5a3 3 0 1 1 1.6-1.6L13.5 3M11 5.5l2 2M5.2 10.7v.1',
  settings:
    'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10.25 6.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5zM5.75 13.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5z',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.6-1.4L14 14',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  stop: 'M4 4h8v8H4z',
  fork: 'M5 4.5v7M5 7.5c0 2 6 .5 6 3M5 4.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5 14.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  cut: 'M5 13.5A1.75 1.75 0 1 0 5 10a1.75 1.75 0 0 0 0 3.5zM11 13.5a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5zM6 10.2l5-7.7M10 10.2 5 2.5',
  edit: 'M3 13h2.5l7-7L10 3.5l-7 7zM8.5 5 11 7.5',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9',
  rerun: 'M12.5 5A5.25 5.25 0 1 0 13.25 9M12.5 2v3h-3',
  plus: 'M8 3v10M3 8h10',
  send: 'M8 13V3.5M4 7.5 8 3.5l4 4',
  tool: 'M10.5 2.5a3.5 3.5 0 0 0-3.3 4.7L2.5 12 4 13.5l4.8-4.7a3.5 3.5 0 0 0 4.5-4.4L11 6.5 9.5 5l2.2-2.2a3.5 3.5 0 0 0-1.2-.3z',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  empty: 'M2.5 5 8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5 8 7.5 13.5 5M8 7.5v6',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  external: 'M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7M13.5 2.5 7.5 8.5',
  book: 'M3 3h4.5L8 3.5l.5-.5H13v9.5H8.5L8 13l-.5-.5H3zM8 3.5V13',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }): ReactNode => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
);

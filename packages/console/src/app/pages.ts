import type { IconName } from '../ui/icons.tsx';

/** The pages of the rail, with the letter that follows `g`. */
export const pages = [
  { to: '/', label: 'Home', icon: 'home', key: 'h' },
  { to: '/playground', label: 'Playground', icon: 'playground', key: 'p' },
  { to: '/inbox', label: 'Inbox', icon: 'inbox', key: 'i' },
  { to: '/threads', label: 'Threads', icon: 'threads', key: 't' },
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r' },
  { to: '/traces', label: 'Traces', icon: 'traces', key: 'e' },
  { to: '/exports', label: 'Exports', icon: 'exports', key: 'x' },
  { to: '/assistants', label: 'Assistants', icon: 'assistants', key: 'a' },
  { to: '/crons', label: 'Crons', icon: 'crons', key: 'c' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhooks', key: 'd' },
  { to: '/store', label: 'Store', icon: 'store', key: 's' },
  { to: '/keys', label: 'Keys', icon: 'keys', key: 'w' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 'n' },
] as const satisfies readonly { to: string; label: string; icon: IconName; key: string }[];

/** Pages without an entry of their own in the rail. */
const entries: Readonly<Record<string, string>> = { '/destinations': '/exports' };

/** The entry of the rail to which a path of the console belongs. */
export const pageOf = (pathname: string): (typeof pages)[number] | undefined => {
  const first = `/${pathname.split('/')[1] ?? ''}`;
  return pages.find(({ to }) => to === (entries[first] ?? first));
};

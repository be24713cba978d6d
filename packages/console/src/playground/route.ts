import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { idOf, oneOf, searchOf, textOf } from '../app/search-text.ts';

const playground = createRoute({
  getParentRoute,
  path: '/playground',
  staticData: { menu: { label: 'Playground', icon: 'playground', key: 'p' } },
  validateSearch: searchOf({
    assistant: textOf,
    version: textOf,
    thread: idOf,
    run: idOf,
    compare: textOf,
    compareThread: idOf,
    compareRun: idOf,
    column: oneOf('right'),
    panel: oneOf('config', 'state', 'threads'),
    part: oneOf('graph', 'settings'),
  }),
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});

export const playgroundRoutes = [playground] as const;

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { idOf, oneOf, searchOf, textOf } from '../app/search-text.ts';

const inbox = createRoute({
  getParentRoute,
  path: '/inbox',
  staticData: { menu: { label: 'Inbox', icon: 'inbox', key: 'i' } },
  validateSearch: searchOf({ show: oneOf('stopped'), graph: textOf, sel: idOf }),
  component: lazyRouteComponent(() => import('./inbox-page.tsx'), 'InboxPage'),
});

export const inboxRoutes = [inbox] as const;

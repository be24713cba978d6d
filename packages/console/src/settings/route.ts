import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { oneOf, searchOf, textOf } from '../app/search-text.ts';

const settings = createRoute({
  getParentRoute,
  path: '/settings',
  staticData: { menu: { label: 'Settings', icon: 'settings', key: 'n' } },
  validateSearch: searchOf({ tab: oneOf('workers'), q: textOf, only: oneOf('changed') }),
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});

export const settingsRoutes = [settings] as const;

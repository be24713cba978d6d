import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { deliveryStatuses } from '../api/statuses.ts';
import { getParentRoute } from '../app/root-route.ts';
import { idOf, manyOf, searchOf } from '../app/search-text.ts';

const webhooks = createRoute({
  getParentRoute,
  path: '/webhooks',
  staticData: { menu: { label: 'Webhooks', icon: 'webhooks', key: 'd' } },
  validateSearch: searchOf({ status: manyOf(deliveryStatuses), sel: idOf }),
  component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});

export const webhookRoutes = [webhooks] as const;

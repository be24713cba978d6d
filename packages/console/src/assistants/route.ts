import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { searchOf, textOf } from '../app/search-text.ts';

const assistants = createRoute({
  getParentRoute,
  path: '/assistants',
  staticData: { menu: { label: 'Assistants', icon: 'assistants', key: 'a' } },
  validateSearch: searchOf({ graph: textOf, q: textOf, page: textOf }),
  component: lazyRouteComponent(() => import('./assistants-page.tsx'), 'AssistantsPage'),
});

const assistant = createRoute({
  getParentRoute,
  path: '/assistants/$assistantId',
  validateSearch: searchOf({ v: textOf, w: textOf }),
  component: lazyRouteComponent(() => import('./assistant-page.tsx'), 'AssistantPage'),
});

export const assistantRoutes = [assistants, assistant] as const;

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { MissingExport } from '../app/missing.tsx';
import { getParentRoute, needId } from '../app/root-route.ts';
import { idOf, manyOf, oneOf, searchOf, textOf } from '../app/search-text.ts';
import { exportStatuses } from '../platform/export-status.ts';

const exports = createRoute({
  getParentRoute,
  path: '/exports',
  staticData: { menu: { label: 'Exports', icon: 'exports', key: 'x' } },
  validateSearch: searchOf({
    status: manyOf(exportStatuses),
    project: idOf,
    destination: idOf,
    schedule: idOf,
    page: textOf,
  }),
  component: lazyRouteComponent(() => import('./exports-page.tsx'), 'ExportsPage'),
});

const newExport = createRoute({
  getParentRoute,
  path: '/exports/new',
  validateSearch: searchOf({ from: idOf, project: idOf, destination: idOf }),
  component: lazyRouteComponent(() => import('./new-export-page.tsx'), 'NewExportPage'),
});

const bulkExport = createRoute({
  getParentRoute,
  path: '/exports/$exportId',
  loader: ({ params }) => needId(params.exportId),
  notFoundComponent: MissingExport,
  validateSearch: searchOf({
    tab: oneOf('days', 'events', 'files', 'manifest', 'request'),
    status: manyOf(exportStatuses),
    run: idOf,
    page: textOf,
  }),
  component: lazyRouteComponent(() => import('./export-page.tsx'), 'ExportPage'),
});

export const exportRoutes = [exports, newExport, bulkExport] as const;

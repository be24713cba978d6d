// The menu of the console: the routes that have an entry, in their order.
import { useLocation, useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { IconName } from '../ui/icons.tsx';

/** The entry of a page. `key`: the letter that follows `g`. */
interface MenuEntry {
  label: string;
  icon: IconName;
  key: string;
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    menu?: MenuEntry;
    /** A page without a menu entry: the path of the page that is highlighted in the menu. */
    parentPath?: string;
  }
}

interface MenuPage extends MenuEntry {
  to: string;
}

export const useMenu = (): MenuPage[] => {
  const { routeTree } = useRouter();
  return useMemo(
    () =>
      Object.values(routeTree.children ?? {}).flatMap(({ fullPath, options: { staticData } }) =>
        staticData?.menu ? [{ to: fullPath, ...staticData.menu }] : [],
      ),
    [routeTree],
  );
};

/** The menu page of the current address. The first part of the path decides. */
export const useCurrentPage = (): MenuPage | undefined => {
  const { routesByPath } = useRouter();
  const first = `/${useLocation().pathname.split('/')[1] ?? ''}`;
  const routes: Readonly<Record<string, { options: { staticData?: { parentPath?: string } } } | undefined>> =
    routesByPath;
  const to = routes[first]?.options.staticData?.parentPath ?? first;
  return useMenu().find((page) => page.to === to);
};

// `http.app` of svc.json: the project's app of Hono, Starlette or FastAPI, which is mounted around the built-in routes.
import { readSource } from './graphs.ts';
import type { HttpSection } from './http-schema.ts';
import type { Mistake } from './mistake.ts';
import type { ProjectModule } from './project-export.ts';
import { findTsconfig } from './tsconfig.ts';

export interface CustomAppConfig {
  readonly source: ProjectModule;
  /** Whether requests for built-in routes are authenticated before the app's middleware runs. */
  readonly isAuthFirst: boolean;
  /** Whether requests that no built-in route serves need authentication. */
  readonly isAuthenticated: boolean;
}

export function readCustomApp(
  section: HttpSection,
  {
    dir,
    paths,
    compat,
    where,
    mistakes,
  }: {
    dir: string;
    paths: readonly string[];
    compat: boolean;
    where: (path: string[]) => string;
    mistakes: Mistake[];
  },
): CustomAppConfig | undefined {
  if (section?.app === undefined) return undefined;
  const at = where(['http', 'app']);
  const source = readSource({ path: section.app }, dir, { example: 'app', paths });
  if ('problem' in source) {
    mistakes.push({ where: at, ...source });
    return undefined;
  }
  return {
    source: { ...source, where: at, tsconfig: findTsconfig(dir) },
    // The stock server authenticates before everything else.
    isAuthFirst: (section.middleware_order ?? (compat ? 'auth_first' : 'middleware_first')) === 'auth_first',
    isAuthenticated: section.enable_custom_route_auth !== false,
  };
}

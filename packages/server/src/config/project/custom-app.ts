// `http.app` of svc.json: the project's Hono app, which is mounted around the built-in routes.
import { readSource } from './graphs.ts';
import type { HttpSection } from './http-schema.ts';
import type { Mistake } from './mistake.ts';
import type { ProjectModule } from './project-export.ts';
import { isPython } from './python-modules.ts';
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
    compat,
    where,
    mistakes,
  }: { dir: string; compat: boolean; where: (path: string[]) => string; mistakes: Mistake[] },
): CustomAppConfig | undefined {
  if (section?.app === undefined) return undefined;
  const at = where(['http', 'app']);
  const source = readSource({ path: section.app }, dir, { example: 'app' });
  if ('problem' in source) {
    mistakes.push({ where: at, ...source });
    return undefined;
  }
  if (isPython(source.file)) {
    mistakes.push({
      where: at,
      value: JSON.stringify(section.app),
      problem: 'is a Python app, which svc does not serve yet',
      remedy: 'Remove it, and serve its routes from a server of their own, or write them as a Hono app.',
    });
    return undefined;
  }
  return {
    source: { ...source, where: at, tsconfig: findTsconfig(dir) },
    // The stock server authenticates before everything else.
    isAuthFirst: (section.middleware_order ?? (compat ? 'auth_first' : 'middleware_first')) === 'auth_first',
    isAuthenticated: section.enable_custom_route_auth !== false,
  };
}

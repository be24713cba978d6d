// The `auth` section of svc.json.
import { readSource } from './graphs.ts';
import type { Mistake } from './mistake.ts';
import type { ProjectModule } from './project-export.ts';
import { findTsconfig } from './tsconfig.ts';
import type { AuthSection } from './svc-json-schema.ts';

export interface AuthConfig {
  readonly source: ProjectModule;
  readonly isStudioDisabled: boolean;
  /** Undefined: the handler is called for every request. */
  readonly cache: AuthCacheConfig | undefined;
}

export interface AuthCacheConfig {
  /** Headers, in lower case, whose values identify the caller. */
  readonly headers: readonly string[];
  readonly ttlMs: number;
  readonly sizeMax: number;
}

export function readAuth(
  section: AuthSection | undefined,
  {
    dir,
    paths,
    where,
    mistakes,
  }: { dir: string; paths: readonly string[]; where: (path: string[]) => string; mistakes: Mistake[] },
): AuthConfig | undefined {
  if (section === undefined) return undefined;
  const at = where(['auth', 'path']);
  const source = readSource({ path: section.path }, dir, { example: 'auth', paths });
  if ('problem' in source) {
    mistakes.push({ where: at, ...source });
    return undefined;
  }
  const { cache } = section;
  return {
    source: { ...source, where: at, tsconfig: findTsconfig(dir) },
    isStudioDisabled: section.disable_studio_auth ?? false,
    cache: cache && {
      headers: cache.cache_keys.map((name) => name.toLowerCase()),
      ttlMs: cache.ttl_seconds * 1_000,
      sizeMax: cache.max_size ?? 1_000,
    },
  };
}

import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';

/** The path before all routes; empty by default. */
export const mountPrefix = ({ settings, project }: { settings: Settings; project: SvcJson }): string =>
  settings.http.mountPrefix ?? project.raw.http?.mount_prefix ?? '';

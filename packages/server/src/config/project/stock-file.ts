// Recognizes a configuration file of the stock server, whatever its name.

/** Keys that only files of the stock server have: they are for its image builds. */
export const imageKeys = [
  'python_version',
  'pip_config_file',
  'pip_installer',
  'keep_pkg_tools',
  'api_version',
  'base_image',
  'image_distro',
  'dockerfile_lines',
  'docker_compose_file',
  'source',
  'disable_persistence',
  '_INTERNAL_docker_tag',
] as const;

const stockKeys: readonly string[] = [...imageKeys, 'node_version', 'node_loader', 'dependencies'];

/**
 * True for `compat`, for the names `langgraph.json` and `langgraph.<anything>.json`, and for a file of another name with stock keys. A
 * file that is named svc.json or svc.<anything>.json, or has `settings`, is one of svc.
 */
export function isStockFile(name: string, raw: Readonly<Record<string, unknown>>): boolean {
  if (raw['compat'] === 'langgraph') return true;
  if (/^langgraph\b.*\.json$/.test(name)) return true;
  if (/^svc\b.*\.json$/.test(name) || raw['settings'] !== undefined) return false;
  return stockKeys.some((key) => raw[key] !== undefined);
}

// Keys of the config file that have no effect. Nothing is ignored in silence: what protects data or requests is refused, everything
// else is named in a warning.
import * as z from 'zod';
import { isRecord } from '../../json/is-record.ts';
import { type Mistake, nearest } from './mistake.ts';
import { SvcJsonFile } from './svc-json-schema.ts';

// Recognizes a configuration file of the stock server, whatever its name.

/** Keys that only files of the stock server have: they are for its image builds. */
const imageKeys = [
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

type Path = string[];
type Values = Readonly<Record<string, unknown>>;

interface Reading {
  where: (path: Path) => string;
  mistakes: Mistake[];
  /** The project has Python files, for which some keys have an effect. */
  hasPython: boolean;
}

/** Without these, a server would serve what its operator believes to be protected. */
const refused: readonly { path: Path; problem: string; remedy: string }[] = [
  {
    path: ['encryption'],
    problem: 'custom encryption is not supported: threads would be stored without it',
    remedy: 'Remove it, and encrypt the disk or the database.',
  },
];

const ineffective: readonly { path: Path; effect: string }[] = [
  { path: ['checkpointer', 'path'], effect: 'svc stores threads in its database' },
  { path: ['checkpointer', 'backend'], effect: 'svc stores threads in its database' },
  { path: ['checkpointer', 'serde'], effect: 'svc has a serialization of its own' },
  { path: ['store', 'path'], effect: 'svc stores items in its database' },
  { path: ['disable_persistence'], effect: 'threads are always stored' },
  { path: ['source'], effect: 'it is for image builds' },
];

const appKeys = ['middleware_order', 'enable_custom_route_auth'] as const;

/** Warnings of keys without effect. Adds mistakes of those that are refused. */
export function readUnsupported(raw: SvcJsonFile, { where, mistakes, hasPython }: Reading): string[] {
  for (const { path, problem, remedy } of refused)
    if (!isSupported(path) && valueAt(raw, path) !== undefined)
      mistakes.push({ where: where(path), problem, remedy });
  const switched = disabledRoutes(raw);
  for (const key of switched)
    mistakes.push({
      where: where(['http', key]),
      problem: 'there is no such group of routes: what it should disable would be served',
      remedy: 'Remove it, and restrict the routes with "auth" or a proxy.',
    });
  const named = ineffective.filter(
    ({ path }) =>
      !isSupported(path) && valueAt(raw, path) !== undefined && !(hasPython && isPythonKey(raw, path)),
  );
  const reported = new Set([...refused, ...ineffective].map(({ path }) => path.join('.')));
  for (const key of switched) reported.add(`http.${key}`);
  // `svc dockerfile` writes the lines of `dockerfile_lines`.
  const image = imageKeys.filter(
    (key) =>
      key !== 'dockerfile_lines' &&
      raw[key] !== undefined &&
      !reported.has(key) &&
      !(hasPython && isPythonKey(raw, [key])),
  );
  return [
    ...unknownIn(raw, SvcJsonFile, [], { where, reported }),
    ...named.map(({ path, effect }) => `${where(path)}: this has no effect: ${effect}`),
    ...(image.length > 0
      ? [`${where([image[0] ?? ''])}: image builds use ${image.join(', ')}; svc does not`]
      : []),
    ...loaderWarnings(raw, where),
    ...(raw.http?.app === undefined ? appKeys : [])
      .filter((key) => raw.http?.[key] !== undefined)
      .map((key) => `${where(['http', key])}: this has no effect without http.app`),
  ];
}

/** With Python files, `svc build` uses these, and names values that it cannot use. */
const pythonImageKeys = ['python_version', 'pip_config_file', 'pip_installer', 'image_distro', 'source'];

/** Whether the key has an effect for the Python files of the project, or for its image. */
const isPythonKey = (raw: Values, path: Path): boolean => {
  if (pythonImageKeys.includes(path[0] ?? '')) return true;
  const value = valueAt(raw, path);
  return path[1] === 'serde' && isRecord(value) && Object.keys(value).join() === 'allowed_msgpack_modules';
};

function loaderWarnings(raw: SvcJsonFile, where: Reading['where']): string[] {
  const { node_loader, node_version } = raw;
  const major = process.versions.node.split('.')[0];
  const wanted = node_version === undefined ? undefined : String(node_version).split('.')[0];
  return [
    ...(node_loader === undefined || node_loader === 'tsx'
      ? []
      : [`${where(['node_loader'])}: this has no effect: modules are loaded by tsx`]),
    ...(wanted === undefined || wanted === major
      ? []
      : [`${where(['node_version'])}: this names Node.js ${wanted}; svc runs on ${major}`]),
  ];
}

/** Keys of the stock server that disable routes, while the schema does not have them. */
const disabledRoutes = ({ http }: Values): string[] =>
  isRecord(http)
    ? Object.keys(http).filter(
        (key) => key.startsWith('disable_') && http[key] === true && !isSupported(['http', key]),
      )
    : [];

/** Unknown keys of an object and of the sections below it. */
function unknownIn(
  values: Values,
  schema: z.ZodObject,
  path: Path,
  { where, reported }: { where: Reading['where']; reported: ReadonlySet<string> },
): string[] {
  const known = Object.keys(schema.shape);
  // A section without a schema is not read at all.
  if (known.length === 0) return [];
  return Object.entries(values).flatMap(([key, value]) => {
    const at = [...path, key];
    if (!Object.hasOwn(schema.shape, key)) {
      if (reported.has(at.join('.'))) return [];
      const near = nearest(key, known);
      return [
        `${where(at)}: svc does not know this key and ignores it${near === undefined ? '' : `; did you mean "${near}"?`}`,
      ];
    }
    const member = unwrapped(schema.shape[key]);
    return member instanceof z.ZodObject && isRecord(value)
      ? unknownIn(value, member, at, { where, reported })
      : [];
  });
}

/** Whether the schema describes the key, so that another module reads it. */
function isSupported(path: Path): boolean {
  let schema: unknown = SvcJsonFile;
  for (const key of path) {
    if (!(schema instanceof z.ZodObject) || !Object.hasOwn(schema.shape, key)) return false;
    schema = unwrapped(schema.shape[key]);
  }
  // Editors know every section of the file. One that no module reads has a schema without members.
  return path.length > 1 || (schema instanceof z.ZodObject && Object.keys(schema.shape).length > 0);
}

const unwrapped = (schema: unknown): unknown => {
  let inner = schema;
  while (inner instanceof z.ZodOptional) inner = inner.unwrap();
  return inner;
};

const valueAt = (raw: Values, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), raw);

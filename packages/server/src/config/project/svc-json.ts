// Finds and reads svc.json or langgraph.json. Collects all mistakes of the file.

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { readAuth } from './auth.ts';
import type { AuthConfig } from './auth.ts';
import { readCustomApp } from './custom-app.ts';
import type { CustomAppConfig } from './custom-app.ts';
import { readCors } from '../settings/cors.ts';
import type { CorsRules } from '../settings/cors.ts';
import { readGraphDefaults, type GraphDefaults } from './graph-defaults.ts';
import { type GraphSource, readGraphs } from './graphs.ts';
import { isRecord } from '../../json/is-record.ts';
import { readHeaderPatterns } from './header-patterns.ts';
import type { SelectHeaders } from './header-patterns.ts';
import { parseJsonText } from './json-text.ts';
import type { JsonText } from './json-text.ts';
import { ConfigError } from './mistake.ts';
import type { Mistake } from './mistake.ts';
import { type PythonConfig, readPython } from './python.ts';
import { isPython, modulePaths } from './python-modules.ts';
import { readDisabledRoutes } from './route-switches.ts';
import type { DisabledRoutes } from './route-switches.ts';
import { isStockFile, readUnsupported } from './unsupported.ts';
import { readStoreIndex } from './store-index.ts';
import type { StoreIndexConfig } from './store-index.ts';
import { SvcJsonFile } from './svc-json-schema.ts';
import { readUi } from './ui.ts';
import type { UiConfig } from './ui.ts';
import { readWebhookRules } from './webhooks.ts';
import type { WebhookRules } from './webhooks.ts';

/** A deployment, as described by its config file. */
export interface SvcJson {
  /** Absolute. */
  readonly file: string;
  readonly dir: string;
  /** Whether the spellings of LangGraph Server are used. */
  readonly compat: boolean;
  readonly graphs: ReadonlyMap<string, GraphSource>;
  /** What the default assistants of graphs are created with, by graph id. */
  readonly graphDefaults: ReadonlyMap<string, GraphDefaults>;
  /** Variables for the graphs, without those that are set in the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; when `env` names a file. */
  readonly envFile?: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly webhooks: WebhookRules;
  /** Undefined without custom authentication. */
  readonly auth: AuthConfig | undefined;
  /** Undefined without custom routes. */
  readonly customApp: CustomAppConfig | undefined;
  /** Undefined: no page of another origin may use the server. */
  readonly cors: CorsRules | undefined;
  /** The request headers that runs get in `configurable`. */
  readonly configurableHeaders: SelectHeaders | undefined;
  readonly loggedHeaders: SelectHeaders | undefined;
  readonly disabled: DisabledRoutes;
  readonly ui: UiConfig;
  /** Undefined: items are not searched by meaning. */
  readonly storeIndex: StoreIndexConfig | undefined;
  /** Undefined: no file of the project is in Python. */
  readonly python: PythonConfig | undefined;
  /** The parsed file, for the sections that other modules read: auth, http, store, checkpointer, … */
  readonly raw: Readonly<SvcJsonFile>;
  /** For the operator. They do not prevent a start. */
  readonly warnings: readonly string[];
}

const fileNames = ['svc.json', 'langgraph.json'] as const;

/** The path of the config file. `given` is a file or a folder. Undefined when there is none. */
export function findConfigFile(cwd: string, given?: string): string | undefined {
  const path = resolve(cwd, given ?? '.');
  if (isFile(path)) return path;
  return fileNames.map((name) => join(path, name)).find(isFile);
}

/** Reads a config file. Throws a `ConfigError` with all of its mistakes. */
export function loadSvcJson(file: string, env: Readonly<Record<string, string>>): SvcJson {
  const { project, mistakes } = readSvcJson(file, env);
  if (project === undefined || mistakes.length > 0) throw new ConfigError(mistakes);
  return project;
}

export interface ReadSvcJson {
  /** Without the sections that have mistakes. Undefined when the file is not JSON. */
  project: SvcJson | undefined;
  mistakes: Mistake[];
  /** The sections that decide who may use the server have no mistakes. */
  isAccessKnown: boolean;
}

/** Like `loadSvcJson`, for a caller that reports further mistakes together with these. */
export function readSvcJson(file: string, env: Readonly<Record<string, string>>): ReadSvcJson {
  const name = basename(file);
  const dir = dirname(file);
  const json = readJson(file, name);
  if ('mistakes' in json) return { project: undefined, mistakes: json.mistakes, isAccessKnown: false };

  const mistakes: Mistake[] = [];
  const where = (path: (string | number)[]): string =>
    `${name}:${json.position(path)} ${path.join('.')}`.trim();
  const compat = isRecord(json.value) && isStockFile(name, json.value);
  const graphs = readGraphs(json.value, dir, where, mistakes, compat);
  const { raw, mistaken } = readSections(json.value, where, mistakes);
  const known = mistakes.length;
  const warnings: string[] = [];
  const variables = readVariables(raw.env, { dir, env, where: where(['env']), mistakes, warnings });
  if (mistakes.length > known) mistaken.add('env');
  // Webhooks refer to variables. When `env` has mistakes, it is not known which of them are missing.
  const section = mistaken.has('env') || mistaken.has('compat') ? undefined : raw.webhooks;
  const webhooks = readWebhookRules({ section, compat, env: { ...variables, ...env }, where, mistakes });
  const headersOf = (key: 'configurable_headers' | 'logging_headers') =>
    readHeaderPatterns({ section: raw.http?.[key], where, path: ['http', key], mistakes });
  const reading = { dir, where, mistakes };
  const paths = modulePaths(raw.dependencies, dir);
  const auth = readAuth(raw.auth, { ...reading, paths });
  const customApp = readCustomApp(raw.http, { ...reading, paths, compat });
  const hasPython = [...graphs.values()].some((source) => isPython(source.file));
  const storeIndex = readStoreIndex(raw.store?.index, { ...reading, hasPython });
  const python = readPython(raw, reading, {
    graphs: [...graphs.values()],
    auth: auth?.source,
    app: customApp?.source,
    embed: storeIndex?.embed,
  });
  const project: SvcJson = {
    file,
    dir,
    compat,
    graphs,
    graphDefaults: readGraphDefaults(env['LANGGRAPH_CONFIG'] ?? variables['LANGGRAPH_CONFIG'], {
      graphs: graphs.keys(),
      mistakes,
    }),
    env: Object.fromEntries(Object.entries(variables).filter(([key]) => !Object.hasOwn(env, key))),
    ...(typeof raw.env === 'string' ? { envFile: resolve(dir, raw.env) } : {}),
    settings: raw.settings ?? {},
    webhooks,
    auth,
    customApp,
    cors: readCors({ section: raw.http?.cors, where, mistakes }),
    configurableHeaders: headersOf('configurable_headers'),
    loggedHeaders: headersOf('logging_headers'),
    disabled: readDisabledRoutes(raw.http),
    ui: readUi(raw, { dir, where, mistakes }),
    storeIndex,
    python,
    raw,
    warnings: [...warnings, ...readUnsupported(raw, { where, mistakes, hasPython: python !== undefined })],
  };
  const isAccessKnown = !['auth', 'http', 'env'].some((key) => mistaken.has(key));
  return { project: Object.freeze(project), mistakes, isAccessKnown };
}

/** `raw`: the sections without mistakes; of the settings, only the mistaken ones are left out. `mistaken`: the keys of sections with mistakes. */
function readSections(
  value: unknown,
  where: (path: (string | number)[]) => string,
  mistakes: Mistake[],
): { raw: SvcJsonFile; mistaken: Set<string> } {
  const mistaken = new Set<string>();
  const parsed = SvcJsonFile.safeParse(value);
  if (parsed.success) return { raw: parsed.data, mistaken };
  const correct: Record<string, unknown> = typeof value === 'object' ? { ...value } : {};
  for (const { path, message } of parsed.error.issues) {
    const at = path.map((key) => (typeof key === 'symbol' ? String(key) : key));
    const [section = '', key = ''] = at;
    mistaken.add(String(section));
    if (section === 'settings' && key !== '') correct[section] = without(correct[section], key);
    else delete correct[section];
    // `readGraphs` has reported those.
    if (section !== 'graphs') mistakes.push({ where: where(at), problem: message, remedy: remedyAt(at) });
  }
  return { raw: SvcJsonFile.parse({ ...correct, graphs: {} }), mistaken };
}

const without = (value: unknown, key: string | number): unknown => {
  const { [key]: _, ...rest } = value as Record<string | number, unknown>;
  return rest;
};

/** The description of the innermost key of the path that has one in the schema. */
function remedyAt(path: readonly (string | number)[]): string {
  let schema: unknown = SvcJsonFile;
  let description: string | undefined;
  for (const key of path) {
    while (schema instanceof z.ZodOptional) schema = schema.unwrap();
    if (!(schema instanceof z.ZodObject)) break;
    const member: unknown = schema.shape[key];
    if (!(member instanceof z.ZodType)) break;
    description = member.description ?? description;
    schema = member;
  }
  return description === undefined
    ? 'See svc.schema.json for what belongs here.'
    : `Expected here: ${description}. See svc.schema.json.`;
}

function readJson(file: string, name: string): JsonText | { mistakes: Mistake[] } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const problem = `cannot be read (${error instanceof Error ? error.message : String(error)})`;
    return {
      mistakes: [{ where: file, problem, remedy: 'Make it readable, or name another with --config.' }],
    };
  }
  const json = parseJsonText(text);
  if (!('mistakes' in json)) return json;
  return { mistakes: json.mistakes.map((each) => ({ ...each, where: `${name}:${each.where}` })) };
}

function readVariables(
  given: SvcJsonFile['env'],
  {
    dir,
    env,
    where,
    mistakes,
    warnings,
  }: {
    dir: string;
    env: Readonly<Record<string, string>>;
    where: string;
    mistakes: Mistake[];
    warnings: string[];
  },
): Record<string, string> {
  if (given === undefined) return {};
  if (Array.isArray(given)) {
    for (const name of given.filter((required) => !Object.hasOwn(env, required))) {
      mistakes.push({
        where,
        problem: `the variable ${name} is required and not set`,
        remedy: `Start with ${name}=… in the environment.`,
      });
    }
    return {};
  }
  if (typeof given === 'object')
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
  const file = resolve(dir, given);
  if (!isFile(file)) {
    // The file is not in version control, so a fresh checkout has none, and an image gets the variables from its environment.
    warnings.push(
      `${where} = ${JSON.stringify(given)}: there is no file ${file}; no variables are read from it`,
    );
    return {};
  }
  return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

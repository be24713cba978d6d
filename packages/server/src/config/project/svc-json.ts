// Finds and reads svc.json or langgraph.json. Collects all mistakes of the file.

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { readAuth } from './auth.ts';
import { readCustomApp } from './custom-app.ts';
import { readCors } from '../settings/cors.ts';
import { readGraphDefaults } from './graph-defaults.ts';
import { readGraphs } from './graphs.ts';
import { isRecord } from '../../json/is-record.ts';
import { readHeaderPatterns } from './header-patterns.ts';
import { type JsonText, parseJsonText } from './json-text.ts';
import { ConfigError, type Mistake } from './mistake.ts';
import { readPython } from './python.ts';
import { isPython, modulePaths } from './python-modules.ts';
import { readDisabledRoutes } from './route-switches.ts';
import { isStockFile, readUnsupported } from './unsupported.ts';
import { readStoreIndex } from './store-index.ts';
import { SvcJsonFile } from './svc-json-schema.ts';
import { readUi } from './ui.ts';
import { readWebhookRules } from './webhooks.ts';

/** A deployment, as described by its config file. */
export type SvcJson = NonNullable<ReturnType<typeof readSvcJson>['project']>;

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
  if (project === undefined || mistakes.length > 0) throw new ConfigError(...mistakes);
  return project;
}

/**
 * Like `loadSvcJson`, for a caller that reports further mistakes together with these. `project`: without the sections that have mistakes;
 * undefined when the file is not JSON. `isAccessKnown`: the sections that decide who may use the server have no mistakes.
 */
export function readSvcJson(file: string, env: Readonly<Record<string, string>>) {
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
  const project = Object.freeze({
    /** Absolute. */
    file,
    dir,
    /** Whether the spellings of LangGraph Server are used. */
    compat,
    graphs,
    /** What the default assistants of graphs are created with, by graph id. */
    graphDefaults: readGraphDefaults(env['LANGGRAPH_CONFIG'] ?? variables['LANGGRAPH_CONFIG'], {
      graphs: graphs.keys(),
      mistakes,
    }),
    /** Variables for the graphs, without those that are set in the environment of the process. */
    env: Object.fromEntries(Object.entries(variables).filter(([key]) => !Object.hasOwn(env, key))),
    /** Absolute; when `env` names a file. */
    envFile: typeof raw.env === 'string' ? resolve(dir, raw.env) : undefined,
    settings: raw.settings ?? {},
    webhooks,
    /** Undefined without custom authentication. */
    auth,
    /** Undefined without custom routes. */
    customApp,
    /** Undefined: no page of another origin may use the server. */
    cors: readCors({ section: raw.http?.cors, where, mistakes }),
    /** The request headers that runs get in `configurable`. */
    configurableHeaders: headersOf('configurable_headers'),
    loggedHeaders: headersOf('logging_headers'),
    disabled: readDisabledRoutes(raw.http),
    ui: readUi(raw, { dir, where, mistakes }),
    /** Undefined: items are not searched by meaning. */
    storeIndex,
    /** Undefined: no file of the project is in Python. */
    python,
    /** The parsed file, for the sections that other modules read: auth, http, store, checkpointer, … */
    raw,
    /** For the operator. They do not prevent a start. */
    warnings: [...warnings, ...readUnsupported(raw, { where, mistakes, hasPython: python !== undefined })],
  });
  const isAccessKnown = !['auth', 'http', 'env'].some((key) => mistaken.has(key));
  return { project, mistakes, isAccessKnown };
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

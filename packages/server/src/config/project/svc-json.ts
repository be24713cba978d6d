// Finds and reads the file that describes a deployment. Everything that is wrong with it is collected, not thrown one by one.

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { readAuth } from './auth.ts';
import type { AuthConfig } from './auth.ts';
import { readCors } from '../settings/cors.ts';
import type { CorsRules } from '../settings/cors.ts';
import { readGraphs } from './graphs.ts';
import type { GraphSource } from './graphs.ts';
import { JsonTextError, parseJsonText } from './json-text.ts';
import type { JsonText } from './json-text.ts';
import { ConfigError } from './mistake.ts';
import type { Mistake } from './mistake.ts';
import { nearest } from './nearest.ts';
import { SvcJsonFile } from './svc-json-schema.ts';
import { readWebhookRules } from './webhooks.ts';
import type { WebhookRules } from './webhooks.ts';

/** A deployment, as its config file describes it. */
export interface SvcJson {
  /** Absolute. */
  readonly file: string;
  readonly dir: string;
  /** Whether the stock spellings are on. */
  readonly compat: boolean;
  readonly graphs: ReadonlyMap<string, GraphSource>;
  /** Variables for the graphs, without those that the environment of the process sets itself. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; when `env` names a file. */
  readonly envFile?: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly webhooks: WebhookRules;
  /** Undefined: users are not told apart. */
  readonly auth: AuthConfig | undefined;
  /** Undefined: no page of another origin may use the server. */
  readonly cors: CorsRules | undefined;
  /** The file as it was parsed, for the sections that others own: auth, http, store, checkpointer, … */
  readonly raw: Readonly<SvcJsonFile>;
  /** Sentences for the operator: nothing that stops a start. */
  readonly warnings: readonly string[];
}

const fileNames = ['svc.json', 'langgraph.json'] as const;

/** The config file that is meant: `given` may be a file or a folder; undefined when there is none. */
export function findConfigFile(cwd: string, given?: string): string | undefined {
  const path = resolve(cwd, given ?? '.');
  if (isFile(path)) return path;
  return fileNames.map((name) => join(path, name)).find(isFile);
}

/** Reads a config file; throws a `ConfigError` with all of its mistakes. */
export function loadSvcJson(file: string, env: Readonly<Record<string, string>>): SvcJson {
  const { project, mistakes } = readSvcJson(file, env);
  if (project === undefined) throw new ConfigError(mistakes);
  return project;
}

/** Like `loadSvcJson`, for a caller that has mistakes of its own to report in the same breath. */
export function readSvcJson(
  file: string,
  env: Readonly<Record<string, string>>,
): { project: SvcJson | undefined; mistakes: Mistake[] } {
  const name = basename(file);
  const dir = dirname(file);
  const json = readJson(file, name);
  if ('problem' in json) return { project: undefined, mistakes: [json] };

  const mistakes: Mistake[] = [];
  const where = (path: (string | number)[]): string =>
    `${name}:${json.position(path)} ${path.join('.')}`.trim();
  const graphs = readGraphs(json.value, dir, where, mistakes);
  const parsed = SvcJsonFile.safeParse(json.value);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      const at = path.map((key) => (typeof key === 'symbol' ? String(key) : key));
      // Graphs have been read already, with better sentences.
      if (at[0] === 'graphs') continue;
      mistakes.push({
        where: where(at),
        problem: message,
        remedy: 'See svc.schema.json for what belongs here.',
      });
    }
    return { project: undefined, mistakes };
  }

  const raw = parsed.data;
  const variables = readVariables(raw.env, { dir, env, where: where(['env']), mistakes });
  const compat = raw.compat === 'langgraph' || name === 'langgraph.json';
  const everything = { ...variables, ...env };
  const webhooks = readWebhookRules({ section: raw.webhooks, compat, env: everything, where, mistakes });
  const auth = readAuth(raw.auth, { dir, where, mistakes });
  const cors = readCors({ section: raw.http?.cors, where, mistakes });
  if (mistakes.length > 0) return { project: undefined, mistakes };
  const project: SvcJson = {
    file,
    dir,
    compat,
    graphs,
    env: Object.fromEntries(Object.entries(variables).filter(([key]) => !Object.hasOwn(env, key))),
    ...(typeof raw.env === 'string' ? { envFile: resolve(dir, raw.env) } : {}),
    settings: raw.settings ?? {},
    webhooks,
    auth,
    cors,
    raw,
    warnings: unknownKeys(raw, where),
  };
  return { project: Object.freeze(project), mistakes };
}

function readJson(file: string, name: string): JsonText | Mistake {
  try {
    return parseJsonText(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof JsonTextError) {
      return { where: `${name}:${error.position}`, problem: error.message, remedy: error.remedy };
    }
    const reason = error instanceof Error ? error.message : String(error);
    return {
      where: file,
      problem: `cannot be read (${reason})`,
      remedy: 'Make it readable, or name another with --config.',
    };
  }
}

function readVariables(
  given: SvcJsonFile['env'],
  {
    dir,
    env,
    where,
    mistakes,
  }: { dir: string; env: Readonly<Record<string, string>>; where: string; mistakes: Mistake[] },
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
    mistakes.push({
      where,
      value: JSON.stringify(given),
      problem: `there is no file ${file}`,
      remedy: 'Create it, or remove "env".',
    });
    return {};
  }
  return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>;
}

function unknownKeys(raw: SvcJsonFile, where: (path: string[]) => string): string[] {
  const known = Object.keys(SvcJsonFile.shape);
  return Object.keys(raw)
    .filter((key) => !Object.hasOwn(SvcJsonFile.shape, key))
    .map((key) => {
      const near = nearest(key, known);
      return `${where([key])}: svc does not know this key and ignores it${near === undefined ? '' : `; did you mean "${near}"?`}`;
    });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { Mistake } from './mistake.ts';
import { findModule, isModuleName, isPython, modulePaths } from './python-modules.ts';
import { graphIdPattern } from './svc-json-schema.ts';
import { isRecord } from '../../json/is-record.ts';

export interface GraphSource {
  /** Absolute. */
  readonly file: string;
  readonly export: string;
  readonly description?: string;
}

type Where = (path: string[]) => string;

const extensions = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.py'];

/**
 * Reads the graphs of a config file. Adds their mistakes to `mistakes`. In a file of the stock server, a path without an export names
 * the default export.
 */
export function readGraphs(
  file: unknown,
  dir: string,
  where: Where,
  mistakes: Mistake[],
  compat = false,
): Map<string, GraphSource> {
  const graphs = new Map<string, GraphSource>();
  const given = isRecord(file) && Object.hasOwn(file, 'graphs') ? file['graphs'] : undefined;
  if (!isRecord(given) || Object.keys(given).length === 0) {
    mistakes.push({
      where: where(['graphs']),
      problem: given === undefined ? 'the key "graphs" is missing' : 'is not a map with at least one graph',
      remedy: 'Write "graphs": {"agent": "./agent.ts:graph"}.',
    });
    return graphs;
  }
  const paths = modulePaths((file as { dependencies?: unknown }).dependencies, dir);
  for (const [id, entry] of Object.entries(given)) {
    const at = where(['graphs', id]);
    const idMistake = idProblem(id);
    const source =
      entryProblem(entry) ??
      readSource(entry as GraphEntry, dir, { standard: compat ? 'default' : undefined, paths });
    if (idMistake !== undefined) mistakes.push({ where: at, ...idMistake });
    if ('problem' in source) mistakes.push({ where: at, ...source });
    else if (idMistake === undefined) graphs.set(id, source);
  }
  return graphs;
}

type Problem = Omit<Mistake, 'where'>;

function idProblem(id: string): Problem | undefined {
  // `in` also finds inherited members: constructor, __proto__, toString, …
  if (id in {}) return { problem: 'this graph id is reserved', remedy: 'Choose another.' };
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) {
    return {
      problem: 'a graph id must not be a UUID, which is the id of an assistant',
      remedy: 'Choose another.',
    };
  }
  if (graphIdPattern.test(id)) return undefined;
  return {
    problem: 'this is not a valid graph id',
    remedy: 'Use 1 to 128 of the characters A-Z a-z 0-9 _ . - and begin with a letter, digit or _.',
  };
}

function entryProblem(entry: unknown): Problem | undefined {
  const remedy = 'Write "./agent.ts:graph" or {"path": "./agent.ts:graph", "description": "…"}.';
  if (typeof entry === 'string') return undefined;
  if (!isRecord(entry) || typeof entry['path'] !== 'string') return { problem: 'names no file', remedy };
  const description = entry['description'];
  if (description === undefined || typeof description === 'string') return undefined;
  return { problem: 'its description is not a text', remedy };
}

type GraphEntry = string | { path: string; description?: string };

interface SourceOptions {
  /** The export of a JavaScript module if none is named. */
  standard?: string | undefined;
  /** An export for error messages. */
  example?: string;
  /** Where modules are searched that are named as Python imports them. Without them, only files are accepted. */
  paths?: readonly string[];
}

/** Reads `<file>:<export>` or `<module>:<name>`. The file is relative to the folder of the config file. */
export function readSource(
  entry: GraphEntry,
  dir: string,
  { standard, example = 'graph', paths = [] }: SourceOptions = {},
): GraphSource | Problem {
  const { path, description } = typeof entry === 'string' ? { path: entry } : entry;
  const value = JSON.stringify(path);
  // Split at the last colon: a Windows path has one after the drive letter.
  const match = /^(.+):([\p{ID_Start}_$][\p{ID_Continue}$]*)$/su.exec(path);
  const [, name, exported] =
    match ?? (standard === undefined || isPython(path) ? [] : [path, path, standard]);
  if (name === undefined || exported === undefined) {
    return {
      value,
      problem: 'names no export',
      remedy: `Write the export after a colon: ${JSON.stringify(`${path}:${example}`)}.`,
    };
  }
  const named = { export: exported, ...(description === undefined ? {} : { description }) };
  if (!extensions.includes(extname(name))) {
    if (paths.length > 0 && isModuleName(name)) {
      const module = findModule(name, paths);
      return module === undefined ? noModule(name, paths, value) : { file: module, ...named };
    }
    return {
      value,
      problem: 'is not a JavaScript, TypeScript or Python file',
      remedy: `Name a file that ends with ${extensions.join(', ')}.`,
    };
  }
  const file = resolve(dir, name);
  const found = name.includes('\0') ? undefined : statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true)
    return {
      value,
      problem: `there is no file ${file}`,
      remedy: 'Create it, or correct the path.',
      missingFile: file,
    };
  return { file, ...named };
}

const noModule = (name: string, paths: readonly string[], value: string): Problem => ({
  value,
  problem: `there is no Python module ${name} in ${paths.join(', ')}`,
  remedy: 'Name its file ("./agent.py:graph"), or add the folder that contains it to "dependencies".',
});

// Loads the embedding model that `store.index.embed` names.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { EmbedSource, StoreIndexConfig } from '../../../config/project/store-index.ts';
import { exportOf } from '../../../config/project/module-export.ts';
import { messageOf } from '../../codec/bounded-text.ts';
import { explainImport, importProjectModule } from '../graphs/project-module.ts';

/** What it returns is not checked. */
export interface EmbeddingModel {
  embedDocuments(texts: string[]): unknown;
  embedQuery(text: string): unknown;
}

type Embed = (texts: string[]) => unknown;

/** `loadPython` loads a model in Python. `onImport` is called after the import, with its error if it failed. Throws an EmbeddingError with the place, the cause and the remedy. */
export const loadEmbeddingModel = async (
  { embed, embedName }: Pick<StoreIndexConfig, 'embed' | 'embedName'>,
  onImport: (error?: unknown) => void,
  loadPython: (source: PythonEmbedSource) => Promise<EmbeddingModel>,
): Promise<EmbeddingModel> => {
  try {
    if (embed.kind === 'export') return await ofExport(embed, onImport);
    return embed.kind === 'provider' ? ofProvider(embed) : await loadPython(embed);
  } catch (cause) {
    const what = `store.index.embed ${JSON.stringify(embedName)} cannot be loaded`;
    throw new EmbeddingError(`${what}: ${messageOf(cause)}`, { cause });
  }
};

const ofExport = async (
  { file, export: name }: Extract<EmbedSource, { kind: 'export' }>,
  onImport: (error?: unknown) => void,
): Promise<EmbeddingModel> => {
  let module: Record<string, unknown>;
  try {
    module = await importProjectModule(file);
  } catch (cause) {
    onImport(cause);
    throw new Error(explainImport(file, cause), { cause });
  }
  onImport();
  const exported = await exportOf(module, name);
  if (exported === undefined) {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw new Error(`${file} does not export ${name}; it exports ${names}. Name one of them after the colon`);
  }
  if (isModel(exported)) return exported;
  if (typeof exported === 'function') return ofFunction(exported as Embed);
  throw new Error(
    `${name} in ${file} is neither a function (texts) => vectors nor an object with embedDocuments and embedQuery`,
  );
};

const isModel = (value: unknown): value is EmbeddingModel =>
  typeof value === 'object' &&
  value !== null &&
  'embedDocuments' in value &&
  typeof value.embedDocuments === 'function' &&
  'embedQuery' in value &&
  typeof value.embedQuery === 'function';

const ofFunction = (embed: Embed): EmbeddingModel => ({
  embedDocuments: (texts) => embed(texts),
  embedQuery: async (text) => {
    const vectors = await embed([text]);
    return Array.isArray(vectors) ? (vectors[0] as unknown) : vectors;
  },
});

export type PythonEmbedSource = Extract<EmbedSource, { kind: 'python' | 'python_provider' }>;

type Provider = Extract<EmbedSource, { kind: 'provider' }>;

const ofProvider = ({ dir, package: name, className, options }: Provider): EmbeddingModel => {
  const module = createRequire(join(dir, 'svc.json'))(name) as Record<string, unknown>;
  const Model = module[className] as (new (options: object) => unknown) | undefined;
  if (typeof Model !== 'function') throw new Error(`the package ${name} has no ${className}`);
  const model = new Model(options);
  if (!isModel(model)) throw new Error(`${className} of ${name} has no embedDocuments and embedQuery`);
  return model;
};

/**
 * The embedding model of the project failed. Not a Problem: a run that fails with `unavailable` gets another attempt, but the
 * model may fail each time.
 */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
}

// `store.index` of svc.json: how the values of store items become vectors.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ItemPathError, parseItemPath } from './item-path.ts';
import { readSource } from './graphs.ts';
import type { IndexSection } from './expiry-schema.ts';
import { type Mistake, nearest } from './mistake.ts';
import { isPython } from './python-modules.ts';

export interface StoreIndexConfig {
  /** Numbers in one vector. */
  readonly dims: number;
  /** Paths of the texts that are embedded. */
  readonly fields: readonly string[];
  /** `store.index.embed` as it is written. */
  readonly embedName: string;
  readonly embed: EmbedSource;
}

export type EmbedSource =
  | { readonly kind: 'export'; readonly file: string; readonly export: string }
  | { readonly kind: 'python'; readonly file: string; readonly export: string }
  /** `<provider>:<model>` in a project with Python graphs: the package of the provider is one of Python. */
  | { readonly kind: 'python_provider'; readonly model: string }
  /** The class of a LangChain package that is installed in the folder of the project. */
  | {
      readonly kind: 'provider';
      readonly dir: string;
      readonly package: string;
      readonly className: string;
      readonly options: Readonly<Record<string, unknown>>;
    };

interface Provider {
  package: string;
  className: string;
}

const providers: Readonly<Record<string, Provider>> = {
  openai: { package: '@langchain/openai', className: 'OpenAIEmbeddings' },
  cohere: { package: '@langchain/cohere', className: 'CohereEmbeddings' },
  mistralai: { package: '@langchain/mistralai', className: 'MistralAIEmbeddings' },
  google_genai: { package: '@langchain/google-genai', className: 'GoogleGenerativeAIEmbeddings' },
  ollama: { package: '@langchain/ollama', className: 'OllamaEmbeddings' },
  bedrock: { package: '@langchain/aws', className: 'BedrockEmbeddings' },
};

interface Reading {
  dir: string;
  /** The graphs are in Python. */
  hasPython: boolean;
  where: (path: (string | number)[]) => string;
  mistakes: Mistake[];
}

/** Undefined without an index, or when it has mistakes. */
export function readStoreIndex(
  section: IndexSection | undefined,
  { dir, hasPython, where, mistakes }: Reading,
): StoreIndexConfig | undefined {
  if (section === undefined) return undefined;
  const { dims, fields = ['$'] } = section;
  for (const [at, path] of fields.entries()) {
    const problem = problemOfPath(path);
    if (problem !== undefined)
      mistakes.push({
        where: where(['store', 'index', 'fields', at]),
        problem,
        remedy: 'Write a path such as "title", "author.name", "chapters[*].text" or "$".',
      });
  }
  const embed = readEmbed(section.embed, { dims, dir, hasPython });
  if (!('problem' in embed)) return { dims, fields, embedName: section.embed, embed };
  mistakes.push({ where: where(['store', 'index', 'embed']), ...embed });
  return undefined;
}

const problemOfPath = (path: string): string | undefined => {
  try {
    parseItemPath(path);
    return undefined;
  } catch (error) {
    if (!(error instanceof ItemPathError)) throw error;
    return error.message;
  }
};

const readEmbed = (
  embed: string,
  { dims, dir, hasPython }: { dims: number; dir: string; hasPython: boolean },
): EmbedSource | Omit<Mistake, 'where'> => {
  const [, name, model] = /^([a-z][a-z0-9_-]*):(.+)$/s.exec(embed) ?? [];
  if (name === undefined || model === undefined) {
    const source = readSource(embed, dir, { example: 'embed' });
    if ('problem' in source) return source;
    return {
      kind: isPython(source.file) ? 'python' : 'export',
      file: source.file,
      export: source.export,
    };
  }
  if (hasPython) return { kind: 'python_provider', model: embed };
  const id = name.replaceAll('-', '_');
  const provider = Object.hasOwn(providers, id) ? providers[id] : undefined;
  if (!provider) return unknownProvider(name, embed);
  if (!isInstalled(provider.package, dir))
    return {
      problem: `needs the package ${provider.package}, which is not installed in the project`,
      remedy: `Install it, or name a function of your own: "./embed.ts:embed".`,
    };
  const options = { model, ...(model.startsWith('text-embedding-3') ? { dimensions: dims } : {}) };
  return { kind: 'provider', dir, ...provider, options };
};

const unknownProvider = (name: string, embed: string): Omit<Mistake, 'where'> => {
  const known = Object.keys(providers);
  const near = nearest(name, known);
  return {
    value: JSON.stringify(embed),
    problem: `there is no provider "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
    remedy: `Providers are ${known.join(', ')}. Or name a function of your own: "./embed.ts:embed".`,
  };
};

const isInstalled = (name: string, dir: string): boolean =>
  (createRequire(join(dir, 'svc.json')).resolve.paths(name) ?? []).some((folder) =>
    existsSync(join(folder, name, 'package.json')),
  );

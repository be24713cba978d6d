// The published package.json: its entries point to `dist`, and fields that only the checkout needs are omitted.
import type { Bundle } from './bundle.ts';
import { scope } from './packages.ts';

/** The package.json of the checkout: its entries are TypeScript sources. */
export interface SourceManifest {
  exports?: Record<string, string>;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
}

/** Fields that only the checkout uses. */
const checkoutFields = new Set(['devDependencies', 'scripts', 'private']);

/** `./src/a.ts` becomes `./dist/a.js` with its types. */
const publishedEntry = (source: string): { types: string; default: string } => {
  const stem = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
};

/** Published packages stay dependencies: the declarations of a bundle refer to them. */
const withoutBundled = (dependencies: Record<string, string>, { external }: Bundle): Record<string, string> =>
  Object.fromEntries(
    Object.entries(dependencies).filter(([name]) => external.includes(name) || name.startsWith('@svc/')),
  );

export const publishedManifest = (
  { exports, dependencies = {}, ...fields }: SourceManifest,
  bundle: Bundle | undefined,
): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(fields).filter(([name]) => !checkoutFields.has(name))),
  dependencies: bundle ? withoutBundled(dependencies, bundle) : dependencies,
  ...(exports && {
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, source]) => [name, publishedEntry(source)]),
    ),
  }),
  ...(scope === '@svc' ? {} : { publishConfig: { access: 'public' } }),
});

// The published package.json: its entries point to `dist`, and fields that only the checkout needs are omitted.
import { scope } from './packages.ts';

/** The package.json of the checkout: its entries are TypeScript sources. */
export interface SourceManifest {
  exports?: Record<string, string>;
  [field: string]: unknown;
}

/** Fields that only the checkout uses. */
const checkoutFields = new Set(['devDependencies', 'scripts', 'private']);

/** `./src/a.ts` becomes `./dist/a.js` with its types. */
const publishedEntry = (source: string): { types: string; default: string } => {
  const stem = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
};

export const publishedManifest = ({ exports, ...fields }: SourceManifest): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(fields).filter(([name]) => !checkoutFields.has(name))),
  ...(exports && {
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, source]) => [name, publishedEntry(source)]),
    ),
  }),
  ...(scope === '@svc' ? {} : { publishConfig: { access: 'public' } }),
});

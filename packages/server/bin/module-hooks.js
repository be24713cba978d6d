// Module hooks of an executor, which run in a thread of their own and before those of tsx.
//
// 1. The engine's packages have one copy in a process: the copy of the server. Whoever imports them gets it.
// 2. A file that was imported with `?svc-module`, and the files of the project that it imports, are ES modules whatever their
//    package.json says. The executor does that for a file that Node takes for CommonJS although it uses top-level await.
import { enginePackage } from './engine-packages.js';

const flag = 'svc-module';
const isFlagged = (url) => url?.startsWith('file:') && new URL(url).searchParams.has(flag);
const isProjectSource = ({ url, format }) =>
  format !== 'builtin' && /^file:.*\.[jt]sx?(\?|%3f|$)/i.test(url) && !url.includes('/node_modules/');

export async function resolve(specifier, context, nextResolve) {
  if (enginePackage.test(specifier)) {
    try {
      return await nextResolve(specifier, { ...context, parentURL: import.meta.url });
    } catch (error) {
      // A newer copy of the project may export more paths.
      if (error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED' && error.code !== 'ERR_MODULE_NOT_FOUND')
        throw error;
    }
  }
  const resolved = await nextResolve(specifier, context);
  if (!isFlagged(context.parentURL) || !isProjectSource(resolved) || isFlagged(resolved.url)) return resolved;
  // Without the queries of tsx for a file that is CommonJS; one of them is in the path.
  const [file] = resolved.url.split(/%3ftsx-|\?/i);
  return { ...resolved, url: `${file}?${flag}`, format: 'module' };
}

export async function load(url, context, nextLoad) {
  return nextLoad(url, isFlagged(url) ? { ...context, format: 'module' } : context);
}

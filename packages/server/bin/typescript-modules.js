// Module hooks for the TypeScript of users. In a folder whose package.json has no "type", Node takes a .ts file for CommonJS, which
// cannot hold the imports and exports that TypeScript is written with: such a file is loaded as an ES module.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const isTypeScript = /^file:.*\.tsx?(\?|$)/;

/** Folder to whether the package that it belongs to has a "type". */
const typed = new Map();

const hasType = (folder) => {
  const known = typed.get(folder);
  if (known !== undefined) return known;
  const file = join(folder, 'package.json');
  const parent = dirname(folder);
  const found = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8')).type !== undefined
    : parent !== folder && hasType(parent);
  typed.set(folder, found);
  return found;
};

export async function load(url, context, nextLoad) {
  if (context.format === 'module' || !isTypeScript.test(url)) return nextLoad(url, context);
  const { pathname } = new URL(url);
  if (pathname.includes('/node_modules/') || hasType(dirname(fileURLToPath(url))))
    return nextLoad(url, context);
  return nextLoad(url, { ...context, format: 'module' });
}

// Where the files of this package are. Its code is in src/ in a checkout and in dist/ where it is installed, and the build puts many
// modules into one file: paths relative to a module would differ.
import { existsSync, readFileSync } from 'node:fs';

const codeFolderAbove = (folder: URL): URL =>
  existsSync(new URL('../package.json', folder)) ? folder : codeFolderAbove(new URL('../', folder));

const codeFolder = codeFolderAbove(new URL('./', import.meta.url));

/** A file in src/ or dist/. */
export const codeFile = (path: string): URL => new URL(path, codeFolder);

/** A file in the folder of package.json. */
export const packageFile = (path: string): URL => new URL(`../${path}`, codeFolder);

/** The version in a package.json. */
export const versionIn = (file: string | URL): string =>
  (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;

/** The version of svc. */
export const packageVersion = (): string => versionIn(packageFile('package.json'));

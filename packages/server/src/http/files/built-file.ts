// Shared by the console and the guide: how the server sends files that a build has written.
const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
};

/** `ending`: without the dot. */
export const typeOf = (ending: string): string => types[ending] ?? 'application/octet-stream';

/** The ending of a file whose name contains its hash; undefined for other names. No path separators: a name cannot leave the folder. */
export const assetEnding = (name: string): string | undefined =>
  /^[\w-]+(?:\.[\w-]+)*\.(css|js|json|svg)$/.exec(name)?.[1];

/** A file whose name contains the hash of its content never changes. */
export const assetCaching = 'public, max-age=31536000, immutable';

/** Undefined when there is no such file, or its name is too long for one. */
export const ifThere = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (['ENOENT', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** `header`: `Accept-Encoding`. `br;q=0` refuses an encoding. */
export const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

/** Headers of every response with such a file. */
export const builtFileHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** A page instead of the files that nothing has built. `what`: "console"; `script`: of package.json. */
export const notBuiltPage = (what: string, script: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc ${what}</title>
<h1>The ${what} is not built</h1>
<p>In a checkout of svc, run <code>npm run ${script}</code>, and load this page again. The API works without it.</p>
</html>
`;

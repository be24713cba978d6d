// Projects that tests write, each with an auth file of its own. They are below the tests so that they resolve the packages of the
// workspace.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestSettings } from '../settings.ts';
import { startTestServer, type TestExecutors, type TestServer } from '../server.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const graph = fileURLToPath(new URL('./project/graph.ts:graph', import.meta.url));
/** The import of the stock Auth. */
export const stockAuth = `import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';\n`;

/** Auth of users who are named by a header, and see what they own; all may use assistants. */
export const ownersOnly = `export const auth = new Auth()
  .authenticate((request) => request.headers.get('x-user') ?? 'anonymous')
  .on('assistants', () => true)
  .on('*', ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  });`;

export interface AuthProjects extends Disposable {
  dir: string;
  graph: string;
  /** Writes a config with this `auth` section, these files and `more` sections; `./` in the section's paths is the folder of the files. */
  write(auth: object, files: Record<string, string>, more?: object): string;
  /** Starts a server whose auth file is this code, after the import of the stock Auth. */
  serve(
    code: string,
    options?: { auth?: object; settings?: TestSettings; executors?: TestExecutors; compat?: boolean },
  ): Promise<TestServer>;
}

export const authProjects = (): AuthProjects => {
  const dir = mkdtempSync(join(here, 'tmp-'));
  const write = (auth: object, files: Record<string, string>, more: object = {}): string => {
    const name = randomUUID();
    for (const [file, text] of Object.entries(files)) writeFileSync(join(dir, `${name}-${file}`), text);
    const section = JSON.stringify(auth).replaceAll('./', `./${name}-`);
    writeFileSync(
      join(dir, `${name}.json`),
      `{${JSON.stringify(more).slice(1, -1)}${Object.keys(more).length > 0 ? ',' : ''}"graphs":{"probe":${JSON.stringify(graph)}},"auth":${section}}`,
    );
    return join(dir, `${name}.json`);
  };
  return {
    dir,
    graph,
    write,
    serve: (code, { auth = {}, settings = {}, executors = 'started', compat = false } = {}) =>
      startTestServer({
        executors,
        project: write(
          { path: './auth.ts:auth', ...auth },
          { 'auth.ts': stockAuth + code },
          compat ? { compat: 'langgraph' } : {},
        ),
        settings,
      }),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true }),
  };
};

// Servers with an `http.app`. A test passes the code of the app.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { TestSettings } from '../settings.ts';
import type { TestDatabase } from '../database.ts';
import { createProjectFolder, type ProjectFolder } from '../projects/project-folder.ts';
import { startTestServer, type TestExecutors, type TestServer } from '../server.ts';

export interface LogLine extends Record<string, unknown> {
  level: number;
  msg: string;
}

export interface CustomServer extends TestServer {
  call: (...given: Parameters<TestServer['call']>) => ReturnType<TestServer['call']>;
  folder: ProjectFolder;
  lines: LogLine[];
}

const graph = (name: string): string => fileURLToPath(new URL(`../graphs/${name}`, import.meta.url));
const graphs = {
  chat: graph('chat.ts:chat'),
  barrier: graph('barrier.ts:barrier'),
  probe: graph('probe.ts:probe'),
};

export interface CustomOptions {
  /** The package of the copy of hono. */
  hono?: string;
  http?: object;
  /** The name of the config file. */
  file?: string;
  sections?: object;
  files?: Record<string, string>;
  settings?: TestSettings;
  database?: TestDatabase;
  executors?: TestExecutors;
}

/** Writes a project whose `app.ts` is this code, after the import of Hono. */
export const writeCustomProject = (
  code: string,
  { hono = 'hono', http = {}, file = 'svc.json', sections = {}, files = {} }: CustomOptions = {},
): ProjectFolder => {
  const folder = createProjectFolder();
  folder.write({
    'package.json': { type: 'module' },
    'app.ts': `import { Hono } from '${hono}';\n${code}`,
    ...files,
    [file]: { graphs, http: { app: './app.ts:app', ...http }, ...sections },
  });
  return folder;
};

export const startCustomServer = async (code: string, options: CustomOptions = {}): Promise<CustomServer> => {
  const folder = writeCustomProject(code, options);
  const lines: LogLine[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  try {
    const server = await startTestServer({
      project: join(folder.dir, options.file ?? 'svc.json'),
      logger,
      ...(options.settings ? { settings: options.settings } : {}),
      ...(options.database ? { database: options.database } : {}),
      ...(options.executors ? { executors: options.executors } : {}),
    });
    return {
      ...server,
      folder,
      lines,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        folder[Symbol.dispose]();
      },
    };
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
};

/** The logged requests, without probes. */
export const requestsOf = ({ lines }: CustomServer): LogLine[] =>
  lines.filter(({ msg, level }) => msg === 'request' && level > 20);

export const chatInput = { messages: [{ role: 'user', content: 'hello' }] };

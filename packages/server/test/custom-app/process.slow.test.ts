// http.app in the processes of `svc start` and `svc dev`.
import { afterEach, describe, expect, it } from 'vitest';
import { type CliProcess, runCli } from '../cli/cli-process.ts';
import { eventually } from '../eventually.ts';
import type { ProjectFolder } from '../projects/project-folder.ts';
import { writeCustomProject } from './custom-server.ts';

let folder: ProjectFolder | undefined;
let svc: CliProcess | undefined;
afterEach(async () => {
  await svc?.[Symbol.asyncDispose]();
  folder?.[Symbol.dispose]();
});

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

describe('svc start', () => {
  it('continues after uncaught errors in the code of http.app, and logs them', async () => {
    folder = writeCustomProject(
      `import { getLogger } from '@langchain/langgraph-sdk/logging';
const logger = getLogger();
logger.info('the app is loaded', { greeting: process.env.GREETING });
export const app = new Hono();
app.get('/custom/later', (c) => {
  setTimeout(() => { throw new Error('thrown later'); }, 1);
  void Promise.reject(new Error('rejected later'));
  return c.text('ok');
});
app.use(async (c, next) => { await next(); void Promise.reject(new Error('after ' + c.res.status)); });`,
      { sections: { env: { GREETING: 'hello' } } },
    );
    svc = runCli(['start', '--port', '0'], { cwd: folder.dir, env: { SVC_LOG_FORMAT: 'json' } });
    const [, url = ''] = await svc.prints(/API +(http:\/\/\S+)/);
    await svc.prints(/"greeting":"hello".*the app is loaded/);
    expect(await textOf(`${url}/custom/later`)).toBe('ok');
    expect((await fetch(`${url}/info`)).status).toBe(200);
    for (const message of ['thrown later', 'rejected later', 'after 200'])
      await svc.prints(new RegExp(`${message}.*uncaught error in the code of http.app`));
    expect((await fetch(`${url}/info`)).status).toBe(200);
  });
});

describe('svc dev', () => {
  it('restarts on changes of the modules of http.app', async () => {
    folder = writeCustomProject(
      `import { text } from './text.ts';
export const app = new Hono().get('/custom', (c) => c.text(text));`,
      { files: { 'text.ts': `export const text = 'first';` } },
    );
    svc = runCli(['dev', '--port', '0'], { cwd: folder.dir });
    const [, url = ''] = await svc.prints(/API +(http:\/\/\S+)/);
    expect(await textOf(`${url}/custom`)).toBe('first');
    let edits = 0;
    await eventually(() => {
      if (++edits % 25 === 1) folder?.write({ 'text.ts': `export const text = 'second';` });
      expect(svc?.output()).toMatch(/Changed: text\.ts\nServing/);
    });
    await eventually(async () => {
      const [, again = ''] = [...(svc?.output() ?? '').matchAll(/Serving .* at (\S+)\n/g)].at(-1) ?? [];
      expect(await textOf(`${again}/custom`)).toBe('second');
    });
    const from = svc.output().length;
    folder.write({ 'app.ts': 'export const app = 1;' });
    await svc.prints(/app in \S+ is not a Hono app[^]*waiting for the next change/, from);
  });
});

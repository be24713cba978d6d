// Python projects of public repositories start with `svc dev` as they are.
import { execFile } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { runCli } from '../../cli/cli-process.ts';
import { testDatabase } from '../../database.ts';
import { fixture } from '../../fixture.ts';
import { testFolder } from '../../folders.ts';
import { describeWithPythonProjects, projectsEnvironment } from './environment.ts';
import { startModelServer } from './model-server.ts';
import { stockProjects, type StockProject } from './stock-projects.ts';

const address = /API +(http:\/\/\S+)/;

/** An environment with the packages of the shared one, and with folders that were installed as editable. */
const createEnvironment = async (folder: string, installed: string[]): Promise<void> => {
  const environment = join(folder, '.venv');
  await promisify(execFile)(join(projectsEnvironment, 'bin/python3'), [
    '-m',
    'venv',
    '--without-pip',
    environment,
  ]);
  const [version = ''] = await readdir(join(environment, 'lib'));
  const packages = join(realpathSync(projectsEnvironment), 'lib', version, 'site-packages');
  const lines = [packages, ...installed.map((path) => join(folder, path))];
  writeFileSync(join(environment, 'lib', version, 'site-packages/editable.pth'), lines.join('\n'));
};

const write = (folder: string, files: Record<string, unknown>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
};

describeWithPythonProjects('a Python project of a public repository', () => {
  const models = fixture(startModelServer);
  const database = fixture(() => testDatabase());

  const start = async ({ files, installed, cwd = '' }: StockProject) => {
    const folder = realpathSync(testFolder());
    write(folder, files);
    if (installed) await createEnvironment(folder, installed);
    else symlinkSync(projectsEnvironment, join(folder, '.venv'));
    const env = { DATABASE_URI: database.uri, ANTHROPIC_API_URL: models.url };
    return runCli(['dev', '--port', '0'], { cwd: join(folder, cwd), env });
  };

  it.for(Object.entries(stockProjects))('%s', async ([, project]) => {
    await using svc = await start(project);
    const [, url = ''] = await svc.prints(address);
    const post = async (path: string, body: object): Promise<string> => {
      const headers = { 'content-type': 'application/json', ...project.headers };
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await answer.text();
      expect(answer.status, `${text}\n${svc.output()}`).toBe(200);
      return text;
    };
    for (const [assistant_id, input, result, more] of project.runs) {
      const { thread_id } = JSON.parse(await post('/threads', {})) as { thread_id: string };
      const stream_mode = ['values', 'messages-tuple'];
      const run = { assistant_id, input, stream_mode, ...more };
      const events = await post(`/threads/${thread_id}/runs/stream`, run);
      expect(
        events.split('\n').findLast((line) => line.includes('{"')),
        svc.output(),
      ).toMatch(result);
      const state = await fetch(`${url}/threads/${thread_id}/state`, { headers: project.headers ?? {} });
      expect(await state.json()).toMatchObject({ next: [], tasks: [] });
      for (const what of ['schemas', 'graph?xray=true', 'subgraphs']) {
        const facts = await fetch(`${url}/assistants/${assistant_id}/${what}`, {
          headers: project.headers ?? {},
        });
        expect(facts.status, what).toBe(200);
      }
    }
    for (const [path, status, text, headers = {}] of project.pages ?? []) {
      const answer = await fetch(url + path, { headers });
      expect(answer.status).toBe(status);
      expect(await answer.text()).toContain(text);
    }
    // A project that is served as it is has nothing that its owner has to change.
    expect(
      svc
        .output()
        .split('\n')
        .filter((line) => /\b(WARN|ERROR)\b/i.test(line)),
    ).toEqual([]);
  });
});

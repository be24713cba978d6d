// Projects of public repositories start with `svc dev` as they are.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { runCli } from '../cli/cli-process.ts';
import { createProjectFolder } from './project-folder.ts';
import { publicProjects } from './public-projects.ts';

const address = /API +(http:\/\/\S+)/;

it.each(Object.entries(publicProjects))('%s starts, and executes a run', async (_, project) => {
  using folder = createProjectFolder();
  folder.write(project.files);
  for (const [name, target] of Object.entries(project.links ?? {})) folder.link(name, target);
  await using database = await testDatabase();
  const env = { DATABASE_URI: database.uri };
  await using svc = runCli(['dev', '--port', '0'], { cwd: join(folder.dir, project.cwd ?? ''), env });
  const [, url = ''] = await svc.prints(address);
  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...project.headers };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    expect(answer.status, `${text}\n${svc.output()}`).toBe(200);
    return JSON.parse(text);
  };

  expect(await (await fetch(`${url}/ok`)).json()).toEqual({ ok: true });
  const assistants = (await post('/assistants/search', {})) as { graph_id: string }[];
  expect(assistants.map(({ graph_id }) => graph_id).toSorted()).toEqual(project.graphs.toSorted());
  const [assistant_id] = project.graphs;
  const { thread_id } = (await post('/threads', {})) as { thread_id: string };
  const values = await post(`/threads/${thread_id}/runs/wait`, { assistant_id, input: project.run.input });
  expect(JSON.stringify(values)).toMatch(project.run.result);
  if (project.page) {
    const [path, text] = project.page;
    expect(await (await fetch(url + path)).text()).toBe(text);
  }
});

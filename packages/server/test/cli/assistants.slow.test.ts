// svc assistants prune, after a graph was removed from the configuration.
import { expect, it } from 'vitest';
import { createProject, runCli } from './cli-process.ts';
import { scaled } from '../speed.ts';

it(
  'lists default assistants of removed graphs, and deletes them only with --delete',
  async () => {
    const agent = './agent.ts:graph';
    using project = createProject({ graphs: { agent, old: agent } });
    const svc = (...args: string[]) => runCli(args, { cwd: project.dir }).exit;
    {
      await using server = runCli(['start', '--port', '0'], { cwd: project.dir });
      await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    }
    project.write('svc.json', { graphs: { agent } });

    const preview = await svc('assistants', 'prune');
    expect(preview.stdout).toMatch(/^[0-9a-f-]{36} {2}old {2}0 crons, 0 ended runs\nNothing was deleted/);
    expect(await svc('assistants', 'prune', '--delete')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--graph') as string,
    });
    const pruned = await svc('assistants', 'prune', '--graph', 'old', '--delete');
    expect(pruned).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}deleted\n$/) as string });
    expect((await svc('assistants', 'prune')).stdout).toBe('There is nothing to delete.\n');
  },
  scaled(180_000),
);

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../program.ts';
import { completionScript, type shells } from './completion.ts';

const scriptFor = (shell: (typeof shells)[number]): string => completionScript(createProgram(), shell);

const run = (shell: string, script: string, args: readonly string[] = []) =>
  spawnSync(shell, [...args], { input: script, encoding: 'utf8' });

/** What bash offers after these words, the last of which is incomplete. */
const offered = (...words: string[]): string[] => {
  const { stdout, stderr } = run(
    'bash',
    `${scriptFor('bash')}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
};

describe('completion', () => {
  it('offers the commands, the subcommands and the options of each', () => {
    expect(offered('svc', '')).toEqual(
      expect.arrayContaining(['dev', 'start', 'keys', 'completion', '--help']),
    );
    expect(offered('svc', 'st')).toEqual(['start']);
    expect(offered('svc', 'keys', '')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']));
    expect(offered('svc', 'keys', 'create', '--r')).toEqual(['--role']);
    expect(offered('svc', 'start', '--port', '8080', '--hos')).toEqual(['--host']);
  });

  it('leaves the value of an option to the shell', () => {
    expect(offered('svc', 'start', '--config', '')).toEqual([]);
  });

  it('offers the choices of an argument', () => {
    expect(offered('svc', 'completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it.each(['zsh', 'fish'] as const)('has every command and option in the script for %s', (shell) => {
    const script = scriptFor(shell);
    for (const word of ['keys create', 'exports', 'workspaces list', 'allow-anonymous', 'n-jobs-per-worker'])
      expect(script).toContain(word);
  });

  it.each([
    ['zsh', ['-f', '-n'], ''],
    ['fish', ['--no-config', '-c', 'cat | source; complete -C "svc keys c"'], 'create\t'],
  ] as const)('is a script that %s reads, where it is installed', (shell, args, output) => {
    const { error, stdout, stderr } = run(shell, scriptFor(shell), args);
    if (error !== undefined) return expect(error).toMatchObject({ code: 'ENOENT' });
    expect(stderr).toBe('');
    expect(stdout).toContain(output);
  });
});

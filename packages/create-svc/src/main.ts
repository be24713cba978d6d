// The command line of create-svc.
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { packageManager, runCommand } from './package-manager.ts';
import { UsageError, writeProject } from './project.ts';
import { askInTerminal, useDefaults } from './questions.ts';
import { findTemplate, type Template, templates } from './templates.ts';

interface Options {
  template?: string;
  yes?: boolean;
  tarballs?: string;
}

const version = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

const create = async (given: string | undefined, options: Options): Promise<void> => {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  if (!isTerminal && !options.yes && given === undefined)
    throw new UsageError('Name a folder, or pass --yes to take my-agent: there is no terminal to ask in.');
  const questions = isTerminal && !options.yes ? askInTerminal : useDefaults;
  const folder = given ?? (await questions.folder());
  const template = findTemplate(options.template ?? (await questions.template()));
  if (!template) throw new Error('commander accepts known templates only');
  const tarballs = options.tarballs === undefined ? undefined : resolve(options.tarballs);
  if (tarballs !== undefined && !existsSync(tarballs))
    throw new UsageError(`There is no folder ${tarballs}.`);
  await writeProject(resolve(folder), template, { svc: version, tarballs });
  process.stdout.write(nextSteps(folder, template));
};

const nextSteps = (folder: string, { name, isPython = false }: Template): string => {
  const manager = packageManager(process.env['npm_config_user_agent']);
  const path = relative('.', resolve(folder));
  const shown = /^[\w./\\-]+$/.test(path) ? path : JSON.stringify(path);
  return [
    `\nCreated ${folder} from the template ${name}. Next:\n`,
    ...(path === '' ? [] : [`  cd ${shown}`]),
    ...(isPython ? ['  python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'] : []),
    `  ${manager} install`,
    `  ${runCommand(manager, 'dev')}\n`,
    'README.md there has the first requests.\n',
  ].join('\n');
};

const program = (): Command =>
  new Command('create-svc')
    .description('Creates a project for an svc server. Works offline; installs nothing.')
    .version(version)
    .argument('[folder]', 'folder of the new project; it must be new or empty')
    .addOption(
      new Option('-t, --template <name>', 'what the project starts from').choices(
        templates.map(({ name }) => name),
      ),
    )
    .option('-y, --yes', 'ask nothing: the folder is my-agent and the template agent, unless they are given')
    .option('--tarballs <folder>', 'install the svc packages from this folder, as `npm run build` makes it')
    .addHelpText(
      'after',
      `\nTemplates:\n${templates.map(({ name, description }) => `  ${name.padEnd(20)}${description}`).join('\n')}\n`,
    )
    .action(create);

/** Exit code 1 for what the user can mend, with one line that says how. */
export const main = async (argv: string[]): Promise<void> => {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
};

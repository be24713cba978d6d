// Executes the instructions of a Dockerfile without a container engine: a stage is a folder, and its absolute paths are below that
// folder. The base image is replaced by the programs of this machine. Knows the instructions that `svc dockerfile` writes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The last stage: what a container of the image is started with. */
export interface BuiltImage {
  /** Paths of the image are below this folder. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  volumes: string[];
  entrypoint: string[];
  command: string[];
  health: string[];
}

interface Instruction {
  name: string;
  text: string;
}

export const instructionsOf = (dockerfile: string): Instruction[] =>
  dockerfile
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...words] = line.split(' ');
      return { name, text: words.join(' ') };
    });

/** `KEY=value KEY=value`, without quotes. */
const assignments = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .replaceAll('$PATH', process.env['PATH'] ?? '')
      .split(/\s+/)
      .map((pair) => pair.split(/=(.*)/s, 2) as [string, string]),
  );

const program = (text: string): string[] => JSON.parse(text) as string[];

class Stage implements BuiltImage {
  workdir = '/';
  env: Record<string, string> = {};
  user = 'root';
  volumes: string[] = [];
  entrypoint: string[] = [];
  command: string[] = [];
  health: string[] = [];
  readonly root: string;
  /** The global npmrc of this machine. */
  readonly npmrc: string;

  constructor(root: string, npmrc: string) {
    this.root = root;
    this.npmrc = npmrc;
  }

  /** The text with the absolute paths of this stage instead of those of the image. */
  placed(text: string): string {
    return text.replaceAll(/(^|[\s="])(\/(?:app|data|opt)\b)/g, (_, before: string, path: string) =>
      before.concat(this.root, path),
    );
  }

  async run(command: string): Promise<void> {
    const isRoot = process.getuid?.() === 0;
    // The users of this machine stay as they are.
    const replaced = ['useradd', ...(isRoot ? [] : ['chown'])].map((name) => `${name}() { :; }\n`).join('');
    await run('sh', ['-c', `exec < /dev/null\n${replaced}${this.placed(command)}`], {
      cwd: join(this.root, this.workdir),
      env: {
        HOME: process.env['HOME'],
        // `npm install --global` must not change this machine.
        npm_config_prefix: join(this.root, 'usr/local'),
        // Otherwise npm reads the file below the prefix, and does not find the registry and the certificates of this machine.
        npm_config_globalconfig: this.npmrc,
        PATH: `${join(this.root, 'usr/local/bin')}:${process.env['PATH']}`,
        ...this.env,
      },
      maxBuffer: 64 * 1024 * 1024,
    });
  }
}

export const buildFrom = async (
  context: string,
  dockerfile: string,
  scratch: string,
): Promise<BuiltImage> => {
  const stages = new Map<string, Stage>();
  const { stdout } = await run('npm', ['config', 'get', 'globalconfig']);
  const npmrc = stdout.trim();
  let stage = new Stage(scratch, npmrc);
  for (const { name, text } of instructionsOf(dockerfile)) {
    if (name === 'FROM') {
      const as = / AS (\S+)$/.exec(text)?.[1] ?? 'last';
      stage = new Stage(join(scratch, as), npmrc);
      await mkdir(stage.root, { recursive: true });
      await addPrograms(stage.root, text);
      stages.set(as, stage);
    } else await execute(stage, { name, text }, { context, stages });
  }
  return stage;
};

const systemPython = '/usr/bin/python3';

/**
 * The programs of a base image, which the user of the image may execute: the Python of the system, since another one may be in a home folder,
 * and Node in images of Node.
 */
const addPrograms = async (root: string, image: string): Promise<void> => {
  const folder = join(root, 'usr/local/bin');
  await mkdir(folder, { recursive: true });
  if (existsSync(systemPython)) await symlink(systemPython, join(folder, 'python3'));
  if (image.startsWith('node:')) await symlink(process.execPath, join(folder, 'node'));
};

const execute = async (
  stage: Stage,
  { name, text }: Instruction,
  { context, stages }: { context: string; stages: ReadonlyMap<string, Stage> },
): Promise<void> => {
  switch (name) {
    case 'WORKDIR':
      stage.workdir = text;
      await mkdir(join(stage.root, text), { recursive: true });
      break;
    case 'COPY': {
      const [from, rest] = /^--from=(\S+) (.*)$/.exec(text)?.slice(1) ?? [undefined, text];
      const source = from === undefined ? context : stages.get(from)?.root;
      if (source === undefined) throw new Error(`there is no stage ${from}`);
      await copy(stage, source, (rest ?? '').split(' '));
      break;
    }
    case 'RUN':
      await stage.run(text.replaceAll(/--mount=\S+ /g, ''));
      break;
    case 'ENV':
    case 'ARG':
      Object.assign(stage.env, assignments(stage.placed(text)));
      break;
    case 'USER':
      stage.user = text;
      break;
    case 'VOLUME':
      stage.volumes.push(text);
      break;
    case 'EXPOSE':
      break;
    case 'HEALTHCHECK':
      stage.health = program(stage.placed(/CMD (.*)$/.exec(text)?.[1] ?? ''));
      break;
    case 'ENTRYPOINT':
      stage.entrypoint = program(stage.placed(text));
      break;
    case 'CMD':
      stage.command = program(text);
      break;
    default:
      throw new Error(`unknown instruction ${name} ${text}`);
  }
};

/** The content of a folder is copied, as docker does; a file is copied into a target that ends with `/`. */
const copy = async (stage: Stage, source: string, words: string[]): Promise<void> => {
  const target = join(stage.root, words.at(-1)?.startsWith('/') ? '' : stage.workdir, words.at(-1) ?? '');
  for (const word of words.slice(0, -1))
    await cp(join(source, word), target.endsWith('/') ? join(target, basename(word)) : target, {
      recursive: true,
      verbatimSymlinks: true,
    });
};

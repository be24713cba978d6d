// What an image of a project contains: the folder of its lock file, with the packages of that lock file.
import { basename, join, resolve } from 'node:path';
import { ConfigError, configError } from '../../config/project/mistake.ts';
import { isPython } from '../../config/project/python-modules.ts';
import { findConfigFile, readSvcJson, type SvcJson } from '../../config/project/svc-json.ts';
import { inImage, isInside } from './local-packages.ts';
import { dependsOnServer, findNodePackages, type NodePackages } from './node-packages.ts';
import { readPythonImage, type PythonImage } from './python-image.ts';

/** Throws a `ConfigError` when the project cannot become an image. Variables and settings of the deployment are not checked. */
export function readImageProject(cwd: string, configPath: string | undefined) {
  const config = readConfigFile(cwd, configPath);
  const { dir, raw, envFile } = config;
  const node = needsNodePackages(config) ? findNodePackages(config) : undefined;
  const python = config.python === undefined ? undefined : readPythonImage(config);
  const root = outerRoot(node, python);
  const port = Number(raw.settings?.['port'] ?? 2024);
  return {
    /** The folder of the lock file, absolute. With two lock files, the outer one. */
    root,
    /** The folder of the config file in `root`; empty when it is `root`. */
    folder: inImage(root, dir),
    /** Undefined: the server finds the file by its name. */
    configFile: ['svc.json', 'langgraph.json'].includes(basename(config.file))
      ? undefined
      : basename(config.file),
    /** Undefined: the server is a Python package. */
    node,
    /** Undefined: the project has no Python files. */
    python,
    port: Number.isInteger(port) && port > 0 ? port : 2024,
    /** `dockerfile_lines` of the config file. */
    lines: raw.dockerfile_lines ?? [],
    /** The file that `env` names, in `root`. */
    envFile: envFile !== undefined && isInside(root, envFile) ? inImage(root, envFile) : undefined,
    /** For the operator. */
    warnings: python?.warnings ?? [],
  };
}

export type ImageProject = ReturnType<typeof readImageProject>;

/** A project of Python files alone gets the server as a Python package, unless its package.json names the server. */
const needsNodePackages = ({ dir, graphs, python, customApp }: SvcJson): boolean =>
  python === undefined ||
  [...graphs.values()].some(({ file }) => !isPython(file)) ||
  (customApp !== undefined && !isPython(customApp.source.file)) ||
  dependsOnServer(dir);

function outerRoot(node: NodePackages | undefined, python: PythonImage | undefined): string {
  const roots = [node?.root, python?.packages.root].filter((root) => root !== undefined);
  const [outer = '', inner = outer] = roots.toSorted((a, b) => a.length - b.length);
  if (node !== undefined && node.root !== outer)
    throw configError(
      join(outer, 'uv.lock'),
      `is above the lock file of Node packages in ${inner}`,
      'Move package.json and its lock file to the folder of the Python lock file.',
    );
  return outer;
}

/** Throws for a file that cannot be read at all: its other mistakes may be due to variables that only the deployment has. */
function readConfigFile(cwd: string, configPath: string | undefined): SvcJson {
  const file = findConfigFile(cwd, configPath);
  if (file === undefined)
    throw configError(
      resolve(cwd, configPath ?? '.'),
      'there is no svc.json and no langgraph.json here',
      'Name the file or its folder with --config.',
    );
  const { project, mistakes } = readSvcJson(file, {});
  if (project === undefined) throw new ConfigError(...mistakes);
  return project;
}

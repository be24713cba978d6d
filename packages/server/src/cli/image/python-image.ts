// The Python of an image, and what the config file says about it.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageVersion } from '../../config/package-files.ts';
import { ConfigError } from '../../config/project/mistake.ts';
import type { SvcJson } from '../../config/project/svc-json.ts';
import { findPythonPackages, type PythonPackages } from './python-packages.ts';

export interface PythonImage {
  /** Such as `python:3.12-slim`. */
  readonly baseImage: string;
  readonly packages: PythonPackages;
  /** The Python package that contains the server. */
  readonly server: string;
  readonly warnings: readonly string[];
}

/** The version that is used when a project names none. */
const standardVersion = '3.12';

export function readPythonImage(config: SvcJson): PythonImage {
  const { raw, dir } = config;
  const packages = findPythonPackages(config);
  const distro = raw['image_distro'] === 'bookworm' ? '-bookworm' : '';
  return {
    baseImage: `python:${readVersion(config) ?? versionFile(packages.root) ?? standardVersion}-slim${distro}`,
    packages,
    server: `svc-server==${packageVersion()}`,
    warnings: [
      ...unusedKeys(config),
      ...(packages.isLocked
        ? []
        : [
            `${dir} has no list of package versions: the image gets the newest ones. Run uv lock, or pip freeze > requirements.txt.`,
          ]),
    ],
  };
}

function readVersion({ file, python }: SvcJson): string | undefined {
  const version = python?.version;
  if (version === undefined) return undefined;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (/^\d+(?:\.\d+){1,2}$/.test(version) && major === 3 && minor >= 11) return version;
  throw new ConfigError({
    where: `${basename(file)}: python_version`,
    value: JSON.stringify(version),
    problem: 'is not a version that svc executes',
    remedy: 'Name 3.11 or a newer one.',
  });
}

/** The version in `.python-version`, which may also name other interpreters than CPython. */
function versionFile(root: string): string | undefined {
  const file = join(root, '.python-version');
  if (!existsSync(file)) return undefined;
  return /^3\.1[1-9](?:\.\d+)?$/m.exec(readFileSync(file, 'utf8'))?.[0];
}

/** Keys for images of the stock server that mean nothing here. */
function unusedKeys({ file, raw }: SvcJson): string[] {
  const unused = (key: string, why: string): string => `${basename(file)}: ${key} has no effect: ${why}`;
  const distro = raw['image_distro'];
  return [
    ...(raw['base_image'] === undefined
      ? []
      : [
          unused(
            'base_image',
            'it names an image of another server; svc build --base-image names one of Python',
          ),
        ]),
    ...(distro === undefined || distro === 'debian' || distro === 'bookworm'
      ? []
      : [unused('image_distro', 'the image is one of Debian; svc build --base-image names another')]),
    ...(raw['keep_pkg_tools'] === undefined ? [] : [unused('keep_pkg_tools', 'the image keeps pip')]),
  ];
}

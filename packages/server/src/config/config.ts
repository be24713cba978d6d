import { basename, resolve } from 'node:path';
import type { SettingKey } from './settings/definitions.ts';
import { exposureKeys, readExposure } from './settings/exposure.ts';
import type { Limits } from './settings/limits.ts';
import { ConfigError, type Mistake } from './project/mistake.ts';
import { readSettings, type Settings } from './settings/settings.ts';
import { findConfigFile, readSvcJson, type SvcJson } from './project/svc-json.ts';

export interface ConfigSources {
  cwd: string;
  env: Readonly<Record<string, string>>;
  flags?: Partial<Record<SettingKey, string>>;
  /** `--config`: a file, or the folder that holds one. */
  configPath?: string;
  /** Whether the command is `svc dev`. */
  develops?: boolean;
  /** For tests. */
  limits?: Partial<Limits>;
}

export interface Config {
  settings: Settings;
  project: SvcJson;
}

/** For commands that serve. Throws one `ConfigError` with the mistakes of the settings and of the config file. */
export function loadConfig(sources: ConfigSources): Config {
  const { settings, project, mistakes } = readConfig(sources, {
    requiresFile: true,
    checksAccess: true,
  });
  if (project === undefined || mistakes.length > 0) throw new ConfigError(...mistakes);
  return { settings, project };
}

/** For commands that serve nothing. A folder without a config file has settings too. Throws a `ConfigError` as above. */
export function loadSettings(
  sources: ConfigSources,
  { checksAccess = false } = {},
): { settings: Settings; project: SvcJson | undefined } {
  const requiresFile = sources.configPath !== undefined;
  const { settings, project, mistakes } = readConfig(sources, { requiresFile, checksAccess });
  if (mistakes.length > 0) throw new ConfigError(...mistakes);
  return { settings, project };
}

/** With `checksAccess`, reports settings that a server must not be started with, because anybody could use it. */
function readConfig(
  { cwd, env, flags = {}, configPath, develops = false, limits = {} }: ConfigSources,
  { requiresFile, checksAccess }: { requiresFile: boolean; checksAccess: boolean },
): { settings: Settings; project: SvcJson | undefined; mistakes: Mistake[] } {
  const path = findConfigFile(cwd, configPath);
  const read = path === undefined ? undefined : readSvcJson(path, env);
  const missing = path === undefined && requiresFile ? [noFile(cwd, configPath)] : [];
  const project = read?.project;
  const file = project && {
    name: basename(project.file),
    dir: project.dir,
    settings: project.settings,
    env: project.env,
  };
  const { settings, mistaken, mistakes } = readSettings({
    env,
    flags,
    cwd,
    machine: { develops },
    limits,
    ...(file === undefined ? {} : { file }),
  });
  // The check needs correct values of all that it looks at.
  const canCheck = read?.isAccessKnown === true && !exposureKeys.some((key) => mistaken.has(key));
  const access = checksAccess && project && canCheck ? readExposure(settings, project).mistakes : [];
  return {
    settings,
    project,
    mistakes: [...missing, ...(read?.mistakes ?? []), ...mistakes, ...access],
  };
}

function noFile(cwd: string, configPath: string | undefined): Mistake {
  return {
    where: configPath === undefined ? cwd : resolve(cwd, configPath),
    problem:
      configPath === undefined
        ? 'there is no svc.json and no langgraph.json here'
        : 'there is no such config file',
    remedy: 'Name one with --config, or write svc.json: {"graphs": {"agent": "./agent.ts:graph"}}',
  };
}

import { basename, resolve } from 'node:path';
import type { SettingKey } from './settings/definitions.ts';
import { readExposure } from './settings/exposure.ts';
import { ConfigError } from './project/mistake.ts';
import type { Mistake } from './project/mistake.ts';
import { readSettings } from './settings/settings.ts';
import type { Settings } from './settings/settings.ts';
import { findConfigFile, readSvcJson } from './project/svc-json.ts';
import type { SvcJson } from './project/svc-json.ts';

export interface ConfigSources {
  cwd: string;
  env: Readonly<Record<string, string>>;
  flags?: Partial<Record<SettingKey, string>>;
  /** `--config`: a file, or the folder that holds one. */
  configPath?: string;
  /** Whether it is `svc dev` that asks. */
  develops?: boolean;
}

export interface Config {
  settings: Settings;
  project: SvcJson;
}

/** Settings and deployment together; throws one `ConfigError` with the mistakes of both. */
export function loadConfig(sources: ConfigSources): Config {
  const { settings, project, mistakes } = readConfig(sources, true);
  if (settings === undefined || project === undefined) throw new ConfigError(mistakes);
  const exposure = readExposure(settings, project);
  if (exposure.mistakes.length > 0) throw new ConfigError(exposure.mistakes);
  return { settings, project };
}

/** For commands that need no graph: a folder without a config file has settings too. */
export function loadSettings(sources: ConfigSources): { settings: Settings; project: SvcJson | undefined } {
  const { settings, project, mistakes } = readConfig(sources, sources.configPath !== undefined);
  if (settings === undefined || mistakes.length > 0) throw new ConfigError(mistakes);
  return { settings, project };
}

function readConfig(
  { cwd, env, flags = {}, configPath, develops = false }: ConfigSources,
  fileRequired: boolean,
): { settings: Settings | undefined; project: SvcJson | undefined; mistakes: Mistake[] } {
  const path = findConfigFile(cwd, configPath);
  const read = path === undefined ? undefined : readSvcJson(path, env);
  const missing = path === undefined && fileRequired ? [noFile(cwd, configPath)] : [];
  const project = read?.project;
  const file = project && {
    name: basename(project.file),
    dir: project.dir,
    settings: project.settings,
    env: project.env,
  };
  const { settings, mistakes } = readSettings({
    env,
    flags,
    cwd,
    machine: { develops },
    ...(file === undefined ? {} : { file }),
  });
  return { settings, project, mistakes: [...missing, ...(read?.mistakes ?? []), ...mistakes] };
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

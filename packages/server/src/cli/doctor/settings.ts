// The settings and the config file, by the same validation as a start.
import type { ConfigError, Mistake } from '../../config/project/mistake.ts';
import type { Config } from '../../config/config.ts';
import { exposureOf } from '../../config/settings/exposure.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

export const settingsOutcomes = ({ project, settings }: Config): Outcome[] => [
  ok(`${project.file} and the settings have no mistakes.`),
  ...project.warnings.map((text) => warning(text, `Correct ${project.file}.`)),
  ...[...exposureOf(settings, project).warnings, ...settings.telemetry.warnings].map((text) =>
    warning(text, `Correct ${project.file} or the settings of the server.`),
  ),
];

export const mistakeOutcomes = ({ mistakes }: ConfigError): Outcome[] => mistakes.map(toOutcome);

const toOutcome = ({ where, value, problem: wrong, remedy }: Mistake): Outcome =>
  problem(`${value === undefined ? where : `${where} = ${value}`}: ${wrong}.`, remedy);

// Finds the Python interpreter of a project at the start of a server.
import type { Logger } from 'pino';
import { executorEnvironment } from '../config/environment.ts';
import type { PythonConfig, PythonLaunch } from '../config/project/python.ts';
import {
  findInterpreter,
  interpreterText,
  interpreterWarnings,
} from '../config/project/python-interpreter.ts';
import type { SvcJson } from '../config/project/svc-json.ts';

/** Throws a ConfigError when no interpreter can execute the files of the project. */
export const preparePython = async (
  { dir, file, env }: SvcJson,
  python: PythonConfig,
  logger: Logger,
): Promise<PythonLaunch> => {
  const project = { dir, file, python };
  const interpreter = await findInterpreter(project, { ...env, ...executorEnvironment() });
  logger.info(interpreterText(interpreter));
  for (const warning of interpreterWarnings(project, interpreter)) logger.warn(warning);
  return { interpreter: interpreter.path, paths: python.paths, storedClasses: python.storedClasses };
};

// Finds the Python interpreter of a project at the start of a server.
import type { Logger } from 'pino';
import { executorEnvironment } from '../config/environment.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import {
  findInterpreter,
  interpreterText,
  interpreterWarnings,
} from '../config/project/python-interpreter.ts';
import type { SvcJson } from '../config/project/svc-json.ts';

/** Undefined for a project without Python files. Throws a ConfigError when no interpreter can execute them. */
export const preparePython = async (
  { dir, file, python, env }: SvcJson,
  logger: Logger,
): Promise<PythonLaunch | undefined> => {
  if (python === undefined) return undefined;
  const project = { dir, file, python };
  const interpreter = await findInterpreter(project, { ...env, ...executorEnvironment() });
  logger.info(interpreterText(interpreter));
  for (const warning of interpreterWarnings(project, interpreter)) logger.warn(warning);
  return { interpreter: interpreter.path, paths: python.paths, storedClasses: python.storedClasses };
};

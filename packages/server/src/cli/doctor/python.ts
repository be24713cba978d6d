// The Python interpreter of a project can execute its files.
import { basename } from 'node:path';
import { ConfigError } from '../../config/project/mistake.ts';
import {
  findInterpreter,
  interpreterText,
  interpreterWarnings,
  type PythonProject,
} from '../../config/project/python-interpreter.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

export const pythonOutcomes = async (
  project: PythonProject,
  env: Readonly<Record<string, string>>,
): Promise<Outcome[]> => {
  try {
    const interpreter = await findInterpreter(project, env);
    const advice = 'Create the environment with the Python that the project names.';
    return [
      ok(`${interpreterText(interpreter)}.`),
      ...interpreterWarnings(project, interpreter).map((text) => warning(`${text}.`, advice)),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.map(({ problem: wrong, remedy }) =>
      problem(`${basename(project.file)}: ${wrong}.`, remedy),
    );
  }
};

// The files that a traceback of Python names. `svc dev` watches them, since a change of one of them may make an import work.
import { isAbsolute } from 'node:path';

export const filesOfTraceback = (text: string): string[] => {
  const named = [...text.matchAll(/^\s*File "([^"\n]+)", line \d+/gm)].map(([, file = '']) => file);
  return [...new Set(named)].filter((file) => isAbsolute(file) && !/[\\/]site-packages[\\/]/.test(file));
};

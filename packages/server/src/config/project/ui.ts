// `ui` and `ui_config` of svc.json: components that web pages load from the server.
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { Mistake } from './mistake.ts';

export interface UiConfig {
  /** Absolute paths of the files whose default export has the components, by agent. */
  readonly files: ReadonlyMap<string, string>;
  /** Packages that the page provides, in addition to React and the LangGraph SDK. */
  readonly shared: readonly string[];
  /** Whether a request for a built file needs authentication. */
  readonly isAuthenticated: boolean;
}

interface UiSections {
  ui?: Readonly<Record<string, string>> | undefined;
  ui_config?: { shared?: string[] | undefined } | undefined;
  http?: { enable_ui_auth?: boolean | undefined } | undefined;
}

const extensions = ['.tsx', '.jsx', '.ts', '.js', '.mts', '.mjs'];

export function readUi(
  { ui = {}, ui_config, http }: UiSections,
  { dir, where, mistakes }: { dir: string; where: (path: string[]) => string; mistakes: Mistake[] },
): UiConfig {
  const files = new Map<string, string>();
  for (const [agent, path] of Object.entries(ui)) {
    const file = resolve(dir, path);
    const at = { where: where(['ui', agent]), value: JSON.stringify(path) };
    if (!extensions.includes(extname(file)))
      mistakes.push({
        ...at,
        problem: 'is not a JavaScript or TypeScript file',
        remedy: `Name a file that ends with ${extensions.join(', ')}.`,
      });
    else if (!isFile(path, file))
      mistakes.push({
        ...at,
        problem: `there is no file ${file}`,
        remedy: 'Create it, or correct the path.',
        missingFile: file,
      });
    else files.set(agent, file);
  }
  return { files, shared: ui_config?.shared ?? [], isAuthenticated: http?.enable_ui_auth === true };
}

const isFile = (path: string, file: string): boolean =>
  !path.includes('\0') && statSync(file, { throwIfNoEntry: false })?.isFile() === true;

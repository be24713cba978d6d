// Projects as users have them, in folders of their own.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The packages of this checkout. */
export const installed = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

export interface ProjectFolder extends Disposable {
  dir: string;
  /** Writes files, by path; values that are no text are written as JSON. Returns the path of the last one. */
  write(files: Record<string, unknown>): string;
  /** Makes a link to a path, both relative to the folder if they are not absolute. */
  link(name: string, target: string): void;
}

/** A temporary folder whose modules can import the packages of this checkout. */
export const createProjectFolder = (): ProjectFolder => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-project-')));
  const link = (name: string, target: string): void => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    symlinkSync(target.startsWith('/') ? target : join(dir, target), join(dir, name));
  };
  link('node_modules', installed);
  return {
    dir,
    link,
    write(files) {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, name)), { recursive: true });
        writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
      }
      return join(dir, Object.keys(files).at(-1) ?? '');
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
};

/** The source of a graph that replies with this expression. `head` is its further imports and statements. */
export const replying = (expression: string, head = ''): string => `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
${head}
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'assistant', content: String(${expression}) }] }))
  .addEdge('__start__', 'reply')
  .compile();
`;

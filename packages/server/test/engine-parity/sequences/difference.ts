// Where two JSON values differ, in a few lines: whole histories would be pages.

import { withoutIds } from './observation.ts';

type Fields = Record<string, unknown>;

const shownMax = 8;
const charsMax = 300;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, charsMax);

const pathsIn = (server: unknown, engine: unknown, path: string): string[] => {
  if (Object.is(server, engine)) return [];
  const isDeep = isFields(server) && isFields(engine) && Array.isArray(server) === Array.isArray(engine);
  if (!isDeep) return [`${path}: engine ${shown(engine)}, server ${shown(server)}`];
  const lengths = Array.isArray(server) && Array.isArray(engine) && server.length !== engine.length;
  const keys = new Set([...Object.keys(engine), ...Object.keys(server)]);
  return [
    ...(lengths
      ? [`${path}.length: engine ${String(engine['length'])}, server ${String(server['length'])}`]
      : []),
    ...[...keys].flatMap((key) => pathsIn(server[key], engine[key], `${path}.${key}`)),
  ];
};

export class Difference extends Error {
  readonly lines: string[];

  constructor(what: string, lines: string[]) {
    super(`The ${what} differs:\n${lines.slice(0, shownMax).join('\n')}`);
    this.name = 'Difference';
    this.lines = lines;
  }
}

/** Whether the values are equal, apart from ids. */
export const isAlike = (server: unknown, engine: unknown): boolean =>
  pathsIn(JSON.parse(withoutIds(server)), JSON.parse(withoutIds(engine)), '').length === 0;

/** Throws a Difference when the answer of the server is not that of the engine. */
export const compare = (what: string, server: unknown, engine: unknown): void => {
  const lines = pathsIn(server, engine, '');
  if (lines.length > 0) throw new Difference(what, lines);
};

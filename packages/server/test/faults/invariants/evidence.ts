import type { Answer } from '../caller.ts';
import type { Frame, History } from '../history.ts';

/** What checkers look at once everything is quiet. */
export interface Evidence {
  /** Of the database, whose tables are found without their schema. */
  query: <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;
  history: History;
  /** A GET at some node. */
  get: (path: string) => Promise<Answer>;
  /** All that is kept of a stream. */
  readLog: (path: string) => Promise<Frame[]>;
}

/** Returns what is wrong, a sentence each. */
export type Checker = (evidence: Evidence) => Promise<string[]>;

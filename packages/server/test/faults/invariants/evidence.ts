import type { Answer } from '../caller.ts';
import type { Frame, History } from '../history.ts';

/** The input of the checkers, once all runs have ended. */
export interface Evidence {
  /** Queries the database; tables are found without their schema. */
  query: <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;
  history: History;
  /** A GET at any node. */
  get: (path: string) => Promise<Answer>;
  /** All stored events of a stream. */
  readLog: (path: string) => Promise<Frame[]>;
}

/** Returns one sentence per violation. */
export type Checker = (evidence: Evidence) => Promise<string[]>;

// What request bodies are parsed with, shared by both APIs.
import type { Logger } from 'pino';
import { LoopTurns } from './loop-turns.ts';
import { ParserPool } from './parser-pool.ts';
import { RequestMemory } from './request-memory.ts';

export interface Parsing {
  parser: ParserPool;
  turns: LoopTurns;
  memory: RequestMemory;
}

/** More than two would only take the cores from the executors. */
const threads = 2;

export const createParsing = (memoryBytes: number, logger: Pick<Logger, 'warn'>): Parsing => ({
  parser: new ParserPool({ threads, logger }),
  turns: new LoopTurns(),
  memory: new RequestMemory({ bytesMax: memoryBytes }),
});

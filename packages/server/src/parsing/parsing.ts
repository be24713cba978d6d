// The parts with which request bodies are parsed, shared by both APIs.
import type { Logger } from 'pino';
import { garbageCollector } from './collect-garbage.ts';
import { LoopTurns } from './loop-turns.ts';
import type { JsonTasks } from './json-task.ts';
import { ParserPool } from './parser-pool.ts';
import { RequestMemory } from './request-memory.ts';
import type { Task, TaskRunner } from './tasks.ts';

export interface Parsing {
  parser: TaskRunner<JsonTasks>;
  turns: LoopTurns;
  memory: RequestMemory;
  /** Collects garbage soon, because a large value is no longer used. */
  collectSoon: () => void;
}

/** More threads would take CPU cores from the executors. */
const threads = 2;

const garbage = { bytesMin: 33_554_432, timeShareMax: 0.2 };

/** `T`: the tasks of the parser thread's program. */
export const createParsing = <T extends JsonTasks & { [N in keyof T]: Task } = JsonTasks>(
  memoryBytes: number,
  logger: Pick<Logger, 'warn'>,
): Parsing & { parser: ParserPool<T> } => {
  const collect = garbageCollector(garbage);
  // In a later turn of the event loop: the released values are garbage then.
  const collectSoon = (): void => void setImmediate(collect);
  return {
    parser: new ParserPool<T>({ threads, logger }),
    turns: new LoopTurns(),
    memory: new RequestMemory({ bytesMax: memoryBytes, onReleased: collectSoon }),
    collectSoon,
  };
};

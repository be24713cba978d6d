import type { StateTasks } from '../deployment/threads/state-rendering.ts';
import type { JsonTasks } from '../parsing/json-task.ts';
import type { Parsing } from '../parsing/parsing.ts';
import type { TaskRunner } from '../parsing/tasks.ts';
import type { IngestTasks } from '../tracing/ingest/ingest-task.ts';

/** All tasks of parser threads. */
export interface ParserTasks extends JsonTasks, StateTasks, IngestTasks {}

export type ServerParsing = Parsing & { parser: TaskRunner<ParserTasks> };

// Global objects by which the stock SDK finds the server that executes a graph. The symbols are the SDK's.
import { getConfig } from '@langchain/langgraph';
import type { Logger } from 'pino';
import type { OwnAddress } from './own-address.ts';

const loggerKey = Symbol.for('langgraph.api.sdk-logger');
const fetchKey = Symbol.for('langgraph_api:fetch');

type Globals = Record<symbol, unknown>;

/** Levels of the SDK's logger, which are those of winston, as levels of ours. */
const levels = {
  error: 'error',
  warn: 'warn',
  help: 'info',
  data: 'info',
  info: 'info',
  prompt: 'info',
  http: 'info',
  verbose: 'debug',
  input: 'debug',
  debug: 'debug',
  silly: 'trace',
} as const;

/** What `getLogger()` of the SDK returns, from now on. Records name the run and the node that writes them. */
export const exposeLogger = (logger: Logger): void => {
  const sdkLogger: Record<string, unknown> = {};
  for (const [name, level] of Object.entries(levels))
    sdkLogger[name] = (message: unknown, ...meta: unknown[]): unknown => {
      logger[level]({ ...placeOfRun(), ...fieldsOf(message, meta) }, textOf(message));
      return sdkLogger;
    };
  (globalThis as Globals)[loggerKey] = sdkLogger;
};

const placeOfRun = (): object => {
  const metadata = getConfig()?.metadata ?? {};
  const { run_id, thread_id, langgraph_node } = metadata;
  return Object.fromEntries(
    Object.entries({ run_id, thread_id, langgraph_node }).filter(([, value]) => value !== undefined),
  );
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Errors are logged under `err`, other objects with their members, other values in `meta`. */
const fieldsOf = (message: unknown, meta: unknown[]): object => {
  const values = isObject(message) ? [message, ...meta] : meta;
  const errors = values.filter((value) => value instanceof Error);
  const objects = values.filter((value) => isObject(value) && !(value instanceof Error));
  const others = values.filter((value) => !isObject(value));
  return {
    ...(Object.assign({}, ...objects) as object),
    ...(errors.length > 0 ? { err: errors[0] } : {}),
    ...(others.length > 0 ? { meta: others } : {}),
  };
};

const textOf = (message: unknown): string => {
  if (!isObject(message)) return String(message);
  if (!('message' in message)) return '';
  return typeof message.message === 'string' ? message.message : '';
};

/** Requests of a `new Client()` without URL go to this server, with the headers that the client sets and no others. */
export const exposeServer = (address: OwnAddress): void => {
  (globalThis as Globals)[fetchKey] = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(input);
    return fetch(`${await address.url}${pathname}${search}`, init);
  };
};

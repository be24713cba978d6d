// The arguments of a tool: the input of its graph, and the context of the run if the graph has a schema for it.
import type { GraphSchemas } from '@svc/contract';
import { RpcError, rpcCodes } from '../../api/json-rpc.ts';
import { isRecord } from '../../json/is-record.ts';

export type JsonSchema = Record<string, unknown>;

interface ToolRun {
  input: unknown;
  /** Undefined when the caller gives none: the run then has the context of the assistant. */
  context: unknown;
}

export interface ToolArguments {
  /** The JSON Schema of the arguments. */
  schema: JsonSchema;
  /** Throws RpcError. */
  read: (given: Record<string, unknown>) => ToolRun;
}

/** The argument for the context. If the input has a member of this name, the argument is part of the input, and the context cannot be set. */
const contextName = 'context';

/** `schemas`: undefined when the graph cannot be loaded. */
export const toolArguments = (schemas: GraphSchemas | undefined): ToolArguments => {
  const input = isRecord(schemas?.input_schema) ? schemas.input_schema : undefined;
  const context = isRecord(schemas?.context_schema) ? schemas.context_schema : undefined;
  const isObject = isObjectSchema(input);
  const base: JsonSchema = isObject
    ? { ...input, type: 'object' }
    : { type: 'object', properties: { input }, required: ['input'] };
  const properties = isRecord(base['properties']) ? base['properties'] : {};
  const takesContext = context !== undefined && !Object.hasOwn(properties, contextName);
  const schema = takesContext
    ? { ...base, properties: { ...properties, [contextName]: optional(context) } }
    : base;
  return { schema, read: (given) => readRun(given, isObject, takesContext) };
};

const isObjectSchema = (schema: JsonSchema | undefined): boolean =>
  schema?.['type'] === undefined || schema['type'] === 'object';

const description = 'The context of the run';

/**
 * Removes `required`, because the context of the assistant may have these members: the argument is merged into it. A schema with references
 * is replaced, because they would not resolve inside another schema.
 */
const optional = (context: JsonSchema): JsonSchema => {
  if (JSON.stringify(context).includes('"$ref":')) return { type: 'object', description };
  const { required: _required, $schema: _dialect, ...members } = context;
  return { description, ...members };
};

const readRun = (given: Record<string, unknown>, isObject: boolean, takesContext: boolean): ToolRun => {
  if (!takesContext) return { input: isObject ? given : given['input'], context: undefined };
  const { [contextName]: context, ...input } = given;
  if (context !== undefined && !isRecord(context))
    throw new RpcError(rpcCodes.invalidParams, `params.arguments.${contextName}: must be an object`);
  return { input: isObject ? input : given['input'], context };
};

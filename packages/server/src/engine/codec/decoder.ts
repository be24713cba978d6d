// Converts stored data to values. Only classes that this file lists are created: a tag selects an entry of a table, never
// a class by name.
import type * as Documents from '@langchain/core/documents';
import type * as Messages from '@langchain/core/messages';
import type * as LangGraph from '@langchain/langgraph';
import type * as Checkpoint from '@langchain/langgraph-checkpoint';
import { damaged } from './codec-error.ts';
import { messageFields } from './message-tree.ts';
import { isRecord } from '../../json/is-record.ts';
import { hasTag, isTagged, setOwn, type Tagged } from './tagged.ts';

/** The project's copies of the classes that values may have. Objects of a class that is absent here become plain data. */
export interface ValueClasses {
  messages: typeof Messages;
  langgraph?: Pick<typeof LangGraph, 'Send' | 'Command' | 'Overwrite'>;
  checkpoint?: Pick<typeof Checkpoint, 'DeltaSnapshot'>;
  documents?: Pick<typeof Documents, 'Document'>;
}

type Made = Record<string, unknown>;
type MessageClass = new (fields: never) => object;

const messageClasses = (messages: typeof Messages): Map<string, MessageClass> =>
  new Map<string, MessageClass>([
    ['human', messages.HumanMessage],
    ['human_chunk', messages.HumanMessageChunk],
    ['ai', messages.AIMessage],
    ['ai_chunk', messages.AIMessageChunk],
    ['system', messages.SystemMessage],
    ['system_chunk', messages.SystemMessageChunk],
    ['tool', messages.ToolMessage],
    ['tool_chunk', messages.ToolMessageChunk],
    ['function', messages.FunctionMessage],
    ['function_chunk', messages.FunctionMessageChunk],
    ['generic', messages.ChatMessage],
    ['generic_chunk', messages.ChatMessageChunk],
    ['remove', messages.RemoveMessage],
  ]);

const bytesKinds = new Map<string, (bytes: ArrayBuffer) => unknown>([
  ['ArrayBuffer', (bytes) => bytes],
  ['Buffer', (bytes) => Buffer.from(bytes)],
  ['DataView', (bytes) => new DataView(bytes)],
  ['Uint8Array', (bytes) => new Uint8Array(bytes)],
  ['Uint8ClampedArray', (bytes) => new Uint8ClampedArray(bytes)],
  ['Int8Array', (bytes) => new Int8Array(bytes)],
  ['Uint16Array', (bytes) => new Uint16Array(bytes)],
  ['Int16Array', (bytes) => new Int16Array(bytes)],
  ['Uint32Array', (bytes) => new Uint32Array(bytes)],
  ['Int32Array', (bytes) => new Int32Array(bytes)],
  ['Float32Array', (bytes) => new Float32Array(bytes)],
  ['Float64Array', (bytes) => new Float64Array(bytes)],
  ['BigInt64Array', (bytes) => new BigInt64Array(bytes)],
  ['BigUint64Array', (bytes) => new BigUint64Array(bytes)],
]);

const errorClasses = new Map<unknown, new (message: string) => Error>([
  ['TypeError', TypeError],
  ['RangeError', RangeError],
  ['SyntaxError', SyntaxError],
  ['ReferenceError', ReferenceError],
  ['EvalError', EvalError],
  ['URIError', URIError],
]);

const hidden = (target: object, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true });
};

/** Turns the stored form back into values. */
export class Decoder {
  readonly #classes: ValueClasses;
  readonly #messages: Map<string, MessageClass>;

  constructor(classes: ValueClasses) {
    this.#classes = classes;
    this.#messages = messageClasses(classes.messages);
  }

  text(text: string): unknown {
    const tree: unknown = JSON.parse(text);
    return hasTag(text) ? this.tree(tree) : tree;
  }

  /** Takes ownership of the tree: its parts become parts of the value. */
  tree(tree: unknown): unknown {
    if (typeof tree !== 'object' || tree === null) return tree;
    if (Array.isArray(tree)) {
      for (let index = 0; index < tree.length; index++) {
        const part: unknown = tree[index];
        if (typeof part === 'object' && part !== null) tree[index] = this.tree(part);
      }
      return tree;
    }
    const record = tree as Record<string, unknown>;
    return isTagged(record) ? this.#tagged(record) : this.#record(record);
  }

  #record(record: Record<string, unknown>): Record<string, unknown> {
    for (const key of Object.keys(record)) {
      const part = record[key];
      if (typeof part !== 'object' || part === null) continue;
      const value = this.tree(part);
      if (value !== part) setOwn(record, key, value);
    }
    return record;
  }

  #tagged(tree: Tagged): unknown {
    const of = tree['of'];
    switch (tree.$) {
      case 'object':
        if (!isRecord(of)) throw damaged('an object is missing');
        return this.#record(of);
      case 'undefined':
        return undefined;
      case 'number':
        return Number(of);
      case 'bigint':
        return BigInt(String(of));
      case 'date':
        return new Date(of === null ? Number.NaN : Number(of));
      case 'map':
        return new Map(this.#list(of) as [unknown, unknown][]);
      case 'set':
        return new Set(this.#list(of));
      case 'bytes':
        return this.#bytes(tree);
      case 'regexp':
        return this.#regexp(tree);
      case 'error':
        return this.#error(tree);
      case 'url':
        return new URL(String(of));
      case 'py':
        // A class of Python: its plain data.
        return this.tree(of);
      default:
        return this.#instance(tree);
    }
  }

  #list(of: unknown): unknown[] {
    if (!Array.isArray(of)) throw damaged('a list is missing');
    return this.tree(of) as unknown[];
  }

  #bytes(tree: Tagged): unknown {
    const make = bytesKinds.get(String(tree['kind']));
    if (!make) throw damaged(`bytes of the unknown kind ${JSON.stringify(tree['kind'])}`);
    // Each value gets its own ArrayBuffer: small Buffers share a pool.
    return make(new Uint8Array(Buffer.from(String(tree['of']), 'base64')).buffer);
  }

  #regexp(tree: Tagged): RegExp {
    const regexp = new RegExp(String(tree['of']), String(tree['flags']));
    regexp.lastIndex = Number(tree['at'] ?? 0);
    return regexp;
  }

  #error({ name, message, cause, errors, own }: Tagged): Error {
    const error = Array.isArray(errors)
      ? new AggregateError(this.#list(errors), String(message))
      : new (errorClasses.get(name) ?? Error)(String(message));
    if (error.name !== name) hidden(error, 'name', name);
    // Replaces the stack of the decoder, which would mislead.
    hidden(error, 'stack', `${String(name)}: ${String(message)}`);
    if (cause !== undefined) hidden(error, 'cause', this.tree(cause));
    if (isRecord(own))
      for (const [key, value] of Object.entries(this.#record(own))) setOwn(error, key, value);
    return error;
  }

  #instance(tree: Tagged): unknown {
    const message = this.#messages.get(tree.$);
    if (message) return this.#message(message, tree);
    const { $: tag, py: _, ...parts } = tree;
    const fields = this.#record(parts);
    const { langgraph, checkpoint, documents } = this.#classes;
    switch (tag) {
      case 'send': {
        if (!langgraph) return fields;
        // Set afterwards and unchanged: the constructor would search the arguments for more Sends.
        const send = new langgraph.Send(String(fields['node']), {});
        return Object.assign(send, { args: fields['args'], timeout: fields['timeout'] });
      }
      case 'command': {
        if (!langgraph) return { lg_name: 'Command', ...fields };
        const { goto, ...given } = fields;
        const args: Made = given;
        const command = new langgraph.Command(args);
        if (goto !== undefined) Object.assign(command, { goto: (args['goto'] = goto) });
        return command;
      }
      case 'overwrite':
        return langgraph ? new langgraph.Overwrite(fields['of']) : { __overwrite__: fields['of'] };
      case 'delta':
        return checkpoint
          ? new checkpoint.DeltaSnapshot(fields['of'])
          : { lg_name: 'DeltaSnapshot', value: fields['of'] };
      case 'document':
        return documents ? new documents.Document(fields as { pageContent: string }) : fields;
      default:
        throw damaged(`the tag ${JSON.stringify(tag)} is unknown`);
    }
  }

  /**
   * Constructors of messages derive fields from each other (tool calls from additional_kwargs, chunks from chunks). The
   * message is therefore created empty, and then gets its fields exactly as stored.
   */
  #message(Class: MessageClass, tree: Tagged): unknown {
    const message = new Class({ content: '' } as never) as Made;
    for (const key in tree) {
      if (messageFields.has(key)) message[key] = this.tree(tree[key]);
    }
    const kwargs: Made = {};
    for (const key of messageFields) if (message[key] !== undefined) kwargs[key] = message[key];
    const { own, kwargs: more } = tree;
    if (isRecord(own))
      for (const [key, value] of Object.entries(this.#record(own))) setOwn(message, key, value);
    if (isRecord(more))
      for (const [key, value] of Object.entries(this.#record(more))) setOwn(kwargs, key, value);
    message['lc_kwargs'] = kwargs;
    return message;
  }
}

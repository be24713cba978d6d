import { FakeListChatModel } from '@langchain/core/utils/testing';
import type { BaseMessage } from '@langchain/core/messages';
import {
  Annotation,
  entrypoint,
  MessagesAnnotation,
  messagesStateReducer,
  MessagesValue,
  MessagesZodState,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import { withLangGraph } from '@langchain/langgraph/zod';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import type { EngineGraph } from '../../src/engine/executor/graphs/graph-registry.ts';
import { introspect } from '../../src/engine/executor/graphs/introspection.ts';
import type { IntrospectCommand } from '../../src/engine/dispatch/protocol.ts';

type Properties = Record<string, unknown>;
type Named = 'input_schema' | 'output_schema' | 'state_schema' | 'config_schema' | 'context_schema';
type Schemas = Record<Named, { properties: Properties } | null>;

const noop = () => ({});
const introspectGraph = (
  graph: unknown,
  command: Omit<IntrospectCommand, 'graph_id' | 'config'>,
): Promise<unknown> => introspect(graph as EngineGraph, { graph_id: 'g', config: {}, ...command });
const schemasOf = async (graph: unknown): Promise<Schemas> =>
  (await introspectGraph(graph, { what: 'schemas' })) as Schemas;
const namesOf = (schema: { properties: Properties } | null): string[] =>
  Object.keys(schema?.properties ?? {});

const messages = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' };

const leaf = new StateGraph(MessagesAnnotation)
  .addNode('think', noop)
  .addNode('reply', noop)
  .addEdge(START, 'think')
  .addEdge('think', 'reply')
  .compile();
const middle = new StateGraph(MessagesAnnotation)
  .addNode('prepare', noop)
  .addNode('leaf', leaf)
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'leaf')
  .compile();
const outer = new StateGraph(MessagesAnnotation).addNode('middle', middle).addEdge(START, 'middle').compile();

describe('the schemas of a graph', () => {
  it('contain the channels of an annotation, and mark those that hold messages', async () => {
    const { input_schema, output_schema, state_schema, config_schema } = await schemasOf(leaf);
    for (const schema of [input_schema, output_schema, state_schema])
      expect(schema).toMatchObject({ type: 'object', properties: { messages } });
    expect(config_schema).toBeNull();
  });

  it('recognize messages by their reducer, or by the name of a list channel', async () => {
    const concat = (before: BaseMessage[], after: BaseMessage[]) => before.concat(after);
    const Renamed = Annotation.Root({
      chat: Annotation({ reducer: messagesStateReducer, default: () => [] }),
      messages: Annotation<string>,
    });
    const Joined = Annotation.Root({ messages: Annotation({ reducer: concat, default: () => [] }) });
    const renamed = new StateGraph(Renamed).addNode('a', noop).addEdge(START, 'a').compile();
    const joined = new StateGraph(Joined).addNode('a', noop).addEdge(START, 'a').compile();
    expect((await schemasOf(renamed)).state_schema?.properties).toEqual({ chat: messages, messages: {} });
    expect((await schemasOf(joined)).state_schema?.properties).toEqual({ messages });
  });

  it('separate input, output and private state', async () => {
    const graph = new StateGraph({
      stateSchema: Annotation.Root({
        question: Annotation<string>,
        reply: Annotation<string>,
        secret: Annotation<string>,
      }),
      input: Annotation.Root({ question: Annotation<string> }),
      output: Annotation.Root({ reply: Annotation<string> }),
    })
      .addNode('a', noop)
      .addEdge(START, 'a')
      .compile();
    const { input_schema, output_schema, state_schema } = await schemasOf(graph);
    expect(namesOf(input_schema)).toEqual(['question']);
    expect(namesOf(output_schema)).toEqual(['reply']);
    expect(namesOf(state_schema).toSorted()).toEqual(['question', 'reply', 'secret']);
  });

  it('are derived from zod 4, with the context as configuration', async () => {
    const State = z.object({
      messages: MessagesZodState.shape.messages,
      count: z.number().describe('how many'),
    });
    const Plain = State.pick({ count: true });
    const Context = z.object({ model: z.string() });
    const graph = new StateGraph(Plain, Context).addNode('a', noop).addEdge(START, 'a').compile();
    const { state_schema, config_schema, context_schema } = await schemasOf(graph);
    expect(state_schema?.properties).toEqual({ count: { type: 'number', description: 'how many' } });
    expect(config_schema?.properties).toEqual({ model: { type: 'string' } });
    expect(context_schema).toEqual(config_schema);
    const chat = new StateGraph(State).addNode('a', noop).addEdge(START, 'a').compile();
    expect((await schemasOf(chat)).state_schema?.properties['messages']).toMatchObject({
      langgraph_type: 'messages',
    });
  });

  it('are derived from zod 3', async () => {
    // The library accepts zod 3 at run time, although its types do not.
    const State = z3.object({ count: z3.number() }) as unknown as z.ZodObject<{ count: z.ZodNumber }>;
    const graph = new StateGraph(State).addNode('a', noop).addEdge(START, 'a').compile();
    expect((await schemasOf(graph)).state_schema?.properties).toEqual({ count: { type: 'number' } });
  });

  it('are derived from a StateSchema', async () => {
    const State = new StateSchema({ messages: MessagesValue, count: z.number().default(0) });
    const graph = new StateGraph(State).addNode('a', noop).addEdge(START, 'a').compile();
    expect((await schemasOf(graph)).state_schema?.properties).toMatchObject({
      messages: { langgraph_type: 'messages' },
      count: { type: 'number' },
    });
  });

  it('contain a name alone for a member that has no JSON Schema, and what the project says of it', async () => {
    const State = z.object({
      count: z.number(),
      since: z.date(),
      chat: withLangGraph(z.custom<BaseMessage[]>(), { jsonSchemaExtra: { langgraph_type: 'messages' } }),
    });
    const Context = z.object({ model: z.string(), until: z.date() });
    const graph = new StateGraph(State, Context).addNode('a', noop).addEdge(START, 'a').compile();
    const { input_schema, state_schema, output_schema, config_schema } = await schemasOf(graph);
    for (const schema of [input_schema, state_schema, output_schema])
      expect(schema?.properties).toEqual({
        count: { type: 'number' },
        since: {},
        chat: { langgraph_type: 'messages' },
      });
    expect(config_schema?.properties).toEqual({ model: { type: 'string' }, until: {} });
  });

  it('contain what the project adds to a member of the state or the context', async () => {
    const prompt = { langgraph_type: 'prompt' as const, langgraph_nodes: ['a'] };
    const Member = withLangGraph(z.string(), { jsonSchemaExtra: prompt });
    const graph = new StateGraph(z.object({ text: Member }), z.object({ system: Member }))
      .addNode('a', noop)
      .addEdge(START, 'a')
      .compile();
    const { state_schema, config_schema } = await schemasOf(graph);
    expect(state_schema?.properties).toEqual({ text: { type: 'string', ...prompt } });
    expect(config_schema?.properties).toEqual({ system: { type: 'string', ...prompt } });
  });

  it('contain the types of defaults that a reducer extends, except in the input', async () => {
    const keep = <T>(_: T, after: T): T => after;
    const State = Annotation.Root({
      list: Annotation<string[]>({ reducer: keep, default: () => [] }),
      text: Annotation<string>({ reducer: keep, default: () => '' }),
      count: Annotation<number>({ reducer: keep, default: () => 0 }),
      done: Annotation<boolean>({ reducer: keep, default: () => false }),
      facts: Annotation<object>({ reducer: keep, default: () => ({}) }),
      since: Annotation<Date>({ reducer: keep, default: () => new Date(0) }),
      last: Annotation<string>,
    });
    const graph = new StateGraph(State).addNode('a', noop).addEdge(START, 'a').compile();
    const { input_schema, state_schema, output_schema } = await schemasOf(graph);
    for (const schema of [state_schema, output_schema])
      expect(schema?.properties).toEqual({
        list: { type: 'array' },
        text: { type: 'string' },
        count: { type: 'number' },
        done: { type: 'boolean' },
        facts: { type: 'object' },
        since: {},
        last: {},
      });
    expect(Object.values(input_schema?.properties ?? {})).toEqual(Array.from({ length: 7 }, () => ({})));
  });

  it('are derived for a prebuilt agent', async () => {
    const agent = createReactAgent({ llm: new FakeListChatModel({ responses: ['hi'] }), tools: [] });
    expect((await schemasOf(agent)).input_schema?.properties).toMatchObject({
      messages: { langgraph_type: 'messages' },
    });
  });

  it('are null for an entrypoint function, which has no channels', async () => {
    const graph = entrypoint({ name: 'add' }, async (n: number) => Promise.resolve(n + 1));
    expect(await introspectGraph(graph, { what: 'schemas' })).toEqual({
      graph_id: 'g',
      input_schema: null,
      output_schema: null,
      state_schema: null,
      config_schema: null,
      context_schema: null,
    });
  });
});

describe('the drawing of a graph', () => {
  const idsAt = async (xray?: boolean | number): Promise<string[]> => {
    const drawing = await introspectGraph(outer, { what: 'graph', ...(xray === undefined ? {} : { xray }) });
    return (drawing as { nodes: { id: string }[] }).nodes.map(({ id }) => id);
  };

  it('has nodes and edges that survive JSON', async () => {
    const drawing = await introspectGraph(leaf, { what: 'graph' });
    expect(JSON.parse(JSON.stringify(drawing))).toEqual(drawing);
    expect(drawing).toMatchObject({
      nodes: [
        { id: '__start__', type: 'schema' },
        { id: 'think', type: 'runnable', data: { name: 'think' } },
        { id: 'reply', type: 'runnable' },
        { id: '__end__', type: 'schema' },
      ],
    });
    const { edges } = drawing as { edges: unknown[] };
    expect(edges).toContainEqual(expect.objectContaining({ source: 'think', target: 'reply' }));
  });

  it('has text names for its nodes, also for a function', async () => {
    const drawing = await introspectGraph(
      entrypoint({ name: 'add' }, (n: number) => Promise.resolve(n + 1)),
      { what: 'graph' },
    );
    const { nodes, edges } = drawing as { nodes: { id: unknown }[]; edges: Record<string, unknown>[] };
    expect(nodes.map(({ id }) => id)).toEqual(['0', '1', '2']);
    expect(edges).toEqual([
      { source: '0', target: '1' },
      { source: '1', target: '2' },
    ]);
  });

  it('contains subgraphs to the requested depth', async () => {
    expect(await idsAt()).toEqual(['__start__', 'middle', '__end__']);
    expect(await idsAt(1)).toEqual(expect.arrayContaining(['middle:prepare', 'middle:leaf']));
    expect(await idsAt(true)).toEqual(expect.arrayContaining(['middle:prepare', 'middle:leaf:reply']));
  });
});

describe('the subgraphs of a graph', () => {
  const names = async (command: { namespace?: string; recurse?: boolean }): Promise<string[]> =>
    Object.keys((await introspectGraph(outer, { what: 'subgraphs', ...command })) as object);

  it('are listed by their path of nodes', async () => {
    expect(await names({})).toEqual(['middle']);
    expect((await names({ recurse: true })).toSorted()).toEqual(['middle', 'middle|leaf']);
    expect(await names({ namespace: 'middle|leaf', recurse: true })).toEqual(['middle|leaf']);
    expect(await names({ namespace: 'unknown' })).toEqual([]);
    expect(await names({ namespace: 'mid', recurse: true })).toEqual([]);
  });

  it('are found at any depth by their namespace, with their own subgraphs when requested', async () => {
    expect(await names({ namespace: 'middle|leaf' })).toEqual(['middle|leaf']);
    expect(await names({ namespace: 'middle' })).toEqual(['middle']);
    expect((await names({ namespace: 'middle', recurse: true })).toSorted()).toEqual([
      'middle',
      'middle|leaf',
    ]);
  });

  it('have their schemas under long and short names', async () => {
    const { middle: found } = (await introspectGraph(outer, { what: 'subgraphs' })) as Record<
      string,
      Record<string, unknown>
    >;
    expect(found).toMatchObject({ state_schema: { properties: { messages } }, config_schema: null });
    for (const name of ['input', 'output', 'state', 'config'])
      expect(found?.[name]).toEqual(found?.[`${name}_schema`]);
  });
});

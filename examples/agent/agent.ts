// An agent that calls tools. It uses a model of OpenAI or Anthropic when OPENAI_API_KEY or ANTHROPIC_API_KEY is set and the
// provider's package is installed; otherwise a scripted model that works offline.
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ScriptedModel } from './scripted-model.ts';
import { tools } from './tools.ts';

const provider = process.env['OPENAI_API_KEY']
  ? {
      package: '@langchain/openai',
      model: 'ChatOpenAI',
      options: { model: process.env['MODEL'] ?? 'gpt-5-mini' },
    }
  : process.env['ANTHROPIC_API_KEY']
    ? {
        package: '@langchain/anthropic',
        model: 'ChatAnthropic',
        options: { model: process.env['MODEL'] ?? 'claude-sonnet-4-5' },
      }
    : undefined;

const loadModel = async (): Promise<BaseChatModel> => {
  if (!provider) return new ScriptedModel();
  const module = (await import(provider.package)) as Record<string, new (options: object) => BaseChatModel>;
  const Model = module[provider.model];
  if (!Model) throw new Error(`${provider.package} has no ${provider.model}`);
  return new Model(provider.options);
};

const model = await loadModel();
const bound = model.bindTools?.(tools) ?? model;

export const agent = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => ({ messages: [await bound.invoke(messages)] }))
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', toolsCondition, ['tools', END])
  .addEdge('tools', 'agent')
  .compile();

// Agent cards describe an assistant to clients of the A2A protocol. A2A 0.3 and A2A 1.0 have different names for the members; a card has both.
import { isRecord } from '../../json/is-record.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';

const versions = ['1.0', '0.3'];
const namesMax = 100;

const namesIn = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string')
    ? value.slice(0, namesMax)
    : undefined;

/** Media types of parts. `metadata.a2a` of the assistant may name others. */
export const modesOf = ({ metadata }: AssistantRow, takesMessages: boolean) => {
  const options = isRecord(metadata['a2a']) ? metadata['a2a'] : {};
  const usual = takesMessages ? ['text/plain', 'application/json'] : ['application/json'];
  return {
    input: namesIn(options['input_modes']) ?? usual,
    output: namesIn(options['output_modes']) ?? usual,
  };
};

export const agentCard = (assistant: AssistantRow, takesMessages: boolean, address: string) => {
  const { assistant_id, graph_id, name, version } = assistant;
  const description = assistant.description ?? `Runs the agent ${name} (graph ${graph_id}).`;
  const url = `${address}/a2a/${assistant_id}`;
  const { input: inputModes, output: outputModes } = modesOf(assistant, takesMessages);
  const supportedInterfaces = versions.map((protocolVersion) => ({
    url,
    protocolBinding: 'JSONRPC',
    protocolVersion,
  }));
  return {
    name,
    description,
    version: String(version),
    supportedInterfaces,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
    supportsAuthenticatedExtendedCard: true,
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [{ id: graph_id, name, description, tags: ['langgraph'], inputModes, outputModes }],
  };
};

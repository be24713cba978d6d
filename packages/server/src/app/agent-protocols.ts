// Wiring of the protocols that serve assistants to other products: as tools (MCP) and as agents (A2A).
import { a2aHandlers } from '../deployment/a2a/a2a-handlers.ts';
import { AgentFinder } from '../deployment/a2a/agent-finder.ts';
import { TaskReader } from '../deployment/a2a/task-reader.ts';
import { TaskSender } from '../deployment/a2a/task-sender.ts';
import { TaskService } from '../deployment/a2a/task-service.ts';
import type { AssistantService } from '../deployment/assistants/assistant-service.ts';
import type { IntrospectionService } from '../deployment/assistants/introspection-service.ts';
import { mcpHandlers } from '../deployment/mcp/mcp-handlers.ts';
import { ToolCaller, type ToolCallParts } from '../deployment/mcp/tool-call.ts';
import { ToolList } from '../deployment/mcp/tool-list.ts';
import type { StateService } from '../deployment/threads/state-service.ts';
import type { Storage } from '../storage/storage.ts';

interface AgentProtocolParts extends ToolCallParts {
  assistants: AssistantService;
  introspection: IntrospectionService;
  states: StateService;
  storage: Storage;
  version: string;
}

export const agentProtocolHandlers = (parts: AgentProtocolParts) => {
  const { assistants, introspection, states, storage, runs, granter, logger, version } = parts;
  const { agentTasks, checkpoints } = storage;
  const reader = new TaskReader({ tasks: agentTasks, checkpoints, states });
  const sender = new TaskSender({ runs, granter, reader, storage: storage.runs });
  return {
    ...mcpHandlers({
      tools: new ToolList(assistants, introspection),
      caller: new ToolCaller(parts),
      version,
    }),
    ...a2aHandlers({
      agents: new AgentFinder(assistants, introspection, granter),
      tasks: new TaskService({ ...parts, tasks: agentTasks, sender, reader }),
      logger,
    }),
  };
};

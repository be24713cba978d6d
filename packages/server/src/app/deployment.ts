// Wiring of the deployment API: its services and handlers.
import { ownerKey, type Authorizer } from '../auth/authorization/authorizer.ts';
import { AccessFilter } from '../auth/authorization/access-filter.ts';
import type { CustomAuth } from '../auth/handlers/custom-auth.ts';
import { callerOf, type User } from '../auth/principal/caller.ts';
import type { RunUsers } from '../auth/sealed-users/run-users.ts';
import { ticketHandlers, type TicketService } from '../auth/tickets/ticket-service.ts';
import { defaultWorkspaceId } from '../auth/workspaces/default-workspace.ts';
import { LoadedModules } from '../config/project/loaded-modules.ts';
import { a2aHandlers } from '../deployment/a2a/a2a-handlers.ts';
import { AgentFinder } from '../deployment/a2a/agent-finder.ts';
import { TaskReader } from '../deployment/a2a/task-reader.ts';
import { TaskSender } from '../deployment/a2a/task-sender.ts';
import { TaskService } from '../deployment/a2a/task-service.ts';
import { assistantHandlers } from '../deployment/assistants/assistant-handlers.ts';
import type { AssistantService } from '../deployment/assistants/assistant-service.ts';
import { IntrospectionService } from '../deployment/assistants/introspection-service.ts';
import { cronHandlers } from '../deployment/crons/cron-handlers.ts';
import { CronService } from '../deployment/crons/cron-service.ts';
import type { JobActionParts } from '../deployment/jobs/job-actions.ts';
import { jobHandlers } from '../deployment/jobs/job-handlers.ts';
import { JobService } from '../deployment/jobs/job-service.ts';
import { mcpHandlers } from '../deployment/mcp/mcp-handlers.ts';
import { ToolCaller, type ToolCallParts } from '../deployment/mcp/tool-call.ts';
import { ToolList } from '../deployment/mcp/tool-list.ts';
import { RunCanceller } from '../deployment/runs/run-canceller.ts';
import { RunFeedback } from '../deployment/runs/run-feedback.ts';
import { RunInputSender } from '../deployment/runs/run-input-sender.ts';
import { RunOutcomeReader } from '../deployment/runs/run-outcome-reader.ts';
import { runHandlers, runChangeHandlers } from '../deployment/runs/run-handlers.ts';
import { RunChangeNotifier } from '../deployment/runs/run-change-notifier.ts';
import { RunGranter } from '../deployment/runs/run-grant.ts';
import { RunFigureService } from '../deployment/runs/run-figure-service.ts';
import { RunSearchService } from '../deployment/runs/run-search-service.ts';
import { RunService } from '../deployment/runs/run-service.ts';
import { RunTimelineService } from '../deployment/runs/run-timeline-service.ts';
import { storeHandlers } from '../deployment/store/store-handlers.ts';
import { ItemIndex } from '../deployment/store/item-index.ts';
import { StoreService } from '../deployment/store/store-service.ts';
import { Readiness } from '../deployment/system/readiness.ts';
import { type ServerFacts, systemHandlers } from '../deployment/system/system-handlers.ts';
import { PruneService } from '../deployment/threads/prune-service.ts';
import { StateReader } from '../deployment/threads/state-reader.ts';
import { StateService, type Updater } from '../deployment/threads/state-service.ts';
import { threadHandlers } from '../deployment/threads/thread-handlers.ts';
import { ThreadService } from '../deployment/threads/thread-service.ts';
import { ThreadRunStream } from '../deployment/threads/thread-run-stream.ts';
import { WatchedThreads } from '../deployment/threads/watched-thread.ts';
import { ReadCommands } from '../deployment/thread-protocol/read-commands.ts';
import { RunCommands } from '../deployment/thread-protocol/run-commands.ts';
import { ThreadEventFeed } from '../deployment/thread-protocol/thread-event-feed.ts';
import { threadProtocolHandlers } from '../deployment/thread-protocol/thread-protocol-handlers.ts';
import { UiBundles } from '../deployment/ui/ui-bundles.ts';
import { uiHandlers } from '../deployment/ui/ui-handlers.ts';
import { DeliverySearchService } from '../deployment/webhooks/delivery-search-service.ts';
import { webhookHandlers } from '../deployment/webhooks/webhook-handlers.ts';
import { WebhookService } from '../deployment/webhooks/webhook-service.ts';
import type { EgressGuard } from '../net/guard.ts';
import { FeedbackService } from '../tracing/feedback/feedback-service.ts';
import { FeedbackTokenService } from '../tracing/feedback/feedback-token-service.ts';
import type { AnswerLimits } from '../storage/postgres/answer-limits.ts';
import type { Storage } from '../storage/storage.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ServiceParts } from './service-parts.ts';
import type { Engine } from './engine.ts';

interface DeploymentParts {
  storage: Storage;
  assistants: AssistantService;
  engine: Engine;
  answers: AnswerLimits;
  users: RunUsers;
  metrics: Metrics;
  facts: ServerFacts;
  guard: EgressGuard;
  tickets: TicketService;
  auth: CustomAuth | undefined;
}

/** An update may use the configuration of default assistants and of the user's own assistants. */
const updaterOf =
  (users: RunUsers) =>
  ({ user }: Authorizer): Updater => ({
    keys: users.keys(user),
    assistantAccess:
      user === undefined ? AccessFilter.everything : AccessFilter.parse({ [ownerKey]: user.identity }),
  });

const runReads = (storage: Storage) => ({
  searches: new RunSearchService(storage),
  figures: new RunFigureService(storage),
  timelines: new RunTimelineService(storage),
});

export const createDeployment = (
  parts: ServiceParts,
  { storage, assistants, engine, answers, users, metrics, facts, guard, tickets, auth }: DeploymentParts,
) => {
  const { project, logger } = parts;
  const { parser } = parts.parsing;
  const { dispatcher, streams, tail, notifications, pollMs } = engine;
  const reader = new StateReader(storage, parser, answers);
  const states = new StateService(storage, reader, dispatcher);
  const threads = new ThreadService(storage, reader, states, dispatcher);
  const webhooks = new WebhookService({
    storage,
    guard,
    rules: project.webhooks,
    isDisabled: project.disabled.webhooks,
    hasCustomApp: project.customApp !== undefined,
  });
  const pruning = new PruneService(storage, threads);
  const outcomes = new RunOutcomeReader({ storage, dispatcher, streams, tail, reader });
  const canceller = new RunCanceller(storage.runs, dispatcher, outcomes, logger);
  const runs = new RunService({
    storage,
    dispatcher,
    streams,
    tail,
    webhooks,
    users,
    graphs: new Set(project.graphs.keys()),
    onDeletionRepeated: () => metrics.runDeletionRepeated(),
  });
  const runChanges = new RunChangeNotifier({ runs: storage.runs, logger });
  const granter = new RunGranter(assistants.defaultIds, project.configurableHeaders);
  const inputs = new RunInputSender({ runs, granter, storage });
  const watched = new WatchedThreads(storage.threads, notifications, pollMs);
  const threadEvents = new ThreadRunStream({ threads: watched, runs: storage.runs, outcomes });
  const readiness = new Readiness({ ...parts, storage, dispatcher });
  const introspection = new IntrospectionService(dispatcher.pool);
  const running = { runs, granter, inputs, outcomes, canceller };
  const handlers = {
    ...systemHandlers({ database: storage, readiness, metrics, facts, disabled: project.disabled }),
    ...assistantHandlers(assistants, introspection),
    ...threadHandlers(threads, states, pruning, updaterOf(users), project.compat),
    ...runHandlers({
      ...running,
      ...runReads(storage),
      threadEvents,
      compat: project.compat,
      feedback: feedbackLinks(parts, storage),
    }),
    ...runChangeHandlers(runChanges),
    ...threadProtocolHandlers({
      commands: {
        runCommands: new RunCommands({ runs, granter, inputs, states, outcomes, storage }),
        readCommands: new ReadCommands({ states, storage }),
      },
      feed: new ThreadEventFeed({ threads: watched, runs: storage.runs, outcomes }),
    }),
    ...ticketHandlers(tickets),
    ...cronHandlers(new CronService(storage, webhooks, users), granter),
    ...jobHandlers(new JobService(storage, users)),
    ...webhookHandlers(webhooks, new DeliverySearchService(storage)),
    ...uiHandlers(uiBundles(parts), project.ui),
    ...storeHandlers(new StoreService(storage.items, project.storeIndex && new ItemIndex(dispatcher.pool))),
    ...agentProtocolHandlers({
      ...running,
      assistants,
      introspection,
      states,
      storage,
      logger,
      version: facts.svc_version,
    }),
  };
  const jobs = jobParts({ storage, ...running, threads, pruning, logger }, users, auth);
  return { handlers, pruning, runChanges, jobs };
};

const jobParts = (actions: JobActionParts, users: RunUsers, auth: CustomAuth | undefined) => ({
  actions,
  users,
  authorizerFor: auth && ((user: User) => auth.handlers.authorizerFor(callerOf(user))),
});

/** A process that does not serve `/ui` builds nothing. */
const uiBundles = ({ project, settings, logger, onModules }: ServiceParts): UiBundles => {
  const isServed = settings.role !== 'worker' && !project.disabled.tags.has('UI');
  const modules = onModules && new LoadedModules(onModules);
  return new UiBundles({
    dir: project.dir,
    config: isServed ? project.ui : { ...project.ui, files: new Map() },
    logger,
    onInput: modules?.add,
  });
};

/** Links with which browsers give feedback on the traces of runs; undefined when runs are not traced. These traces are in the default workspace. */
const feedbackLinks = ({ settings, logger }: ServiceParts, storage: Storage): RunFeedback | undefined => {
  if (settings.platform.tracingProject === undefined) return undefined;
  const tokens = new FeedbackTokenService(storage.feedbackTokens, new FeedbackService(storage.feedback));
  return new RunFeedback(async ({ run_id, keys, address }) => {
    const tenant_id = await defaultWorkspaceId(storage.workspaces);
    return tokens.linksFor({ tenant_id, run_id }, keys, address);
  }, logger);
};

interface AgentProtocolParts extends ToolCallParts {
  assistants: AssistantService;
  introspection: IntrospectionService;
  states: StateService;
  storage: Storage;
  version: string;
}

/** Wiring of the protocols that serve assistants to other products: as tools (MCP) and as agents (A2A). */
const agentProtocolHandlers = (parts: AgentProtocolParts) => {
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

// Creates the links with which browsers give feedback on the traces of runs. These traces are in the default workspace.
import { defaultWorkspaceId } from '../auth/workspaces/default-workspace.ts';
import { RunFeedback } from '../deployment/runs/run-feedback.ts';
import type { Storage } from '../storage/storage.ts';
import { FeedbackService } from '../tracing/feedback/feedback-service.ts';
import { FeedbackTokenService } from '../tracing/feedback/feedback-token-service.ts';
import type { ServiceParts } from './service-parts.ts';

/** Undefined when runs are not traced. */
export const feedbackLinks = (
  { settings, logger }: ServiceParts,
  storage: Storage,
): RunFeedback | undefined => {
  if (settings.platform.tracingProject === undefined) return undefined;
  const tokens = new FeedbackTokenService(storage.feedbackTokens, new FeedbackService(storage.feedback));
  return new RunFeedback(async ({ run_id, keys, address }) => {
    const tenant_id = await defaultWorkspaceId(storage.workspaces);
    return tokens.linksFor({ tenant_id, run_id }, keys, address);
  }, logger);
};

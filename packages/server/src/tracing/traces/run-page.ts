import { RawJson, Reply } from '../../api/handlers.ts';
import { pageFacts } from '../../api/pagination.ts';

/** A page of runs as JSON text. */
export interface TraceRunPage {
  text: string;
  /** It ended early, since more would be too large for one answer. */
  isCut: boolean;
}

/** The place of the next page is in the body. */
export const toRunPage = ({ text, isCut }: TraceRunPage): Reply<RawJson> =>
  new Reply(new RawJson(text), pageFacts({ hasMore: false, isCut }, undefined));

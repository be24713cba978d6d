import { RawJson, type Reply } from '../../api/handlers.ts';
import { pageReply } from '../../api/pagination.ts';

/** A page of trace runs as JSON text, which contains the cursor of the next page. */
export interface TraceRunPage {
  text: string;
  /** The page ended early, because more rows would make the response too large. */
  isCut: boolean;
}

export const toRunPage = ({ text, isCut }: TraceRunPage): Reply<RawJson> =>
  pageReply(new RawJson(text), { hasMore: false, isCut });

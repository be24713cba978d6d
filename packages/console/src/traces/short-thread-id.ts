import { isId } from '../app/search-text.ts';
import { visibleText } from '../ui/visible-text.ts';

const namedMax = 40;

/** The beginning of a UUID identifies a thread. Other ids are names that programs have given. */
export const shortThreadId = (id: string): string =>
  isId(id) ? id.slice(0, 8) : visibleText(id.length > namedMax ? `${id.slice(0, namedMax)}…` : id);

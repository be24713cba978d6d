// What a person keeps for a list in this browser: the columns that are shown, and addresses of the list with a name.
import { useMemo, useSyncExternalStore } from 'react';
import { useSession } from '../session/session.ts';
import type { Column } from '../ui/data-table.tsx';
import { subscribeToPreferences, keepText, keptText } from '../ui/preferences.ts';

export interface SavedView {
  name: string;
  /** The query string, which begins with `?` unless it is empty. */
  search: string;
}

interface ListSettings {
  /** Names of columns that are shown although they are not by default, and of those that are not although they are. */
  toggled: readonly string[];
  views: readonly SavedView[];
}

const none: ListSettings = { toggled: [], views: [] };

const readSettings = (text: string | null): ListSettings => {
  try {
    const { toggled, views } = JSON.parse(text ?? '{}') as Partial<ListSettings>;
    return { toggled: toggled ?? [], views: views ?? [] };
  } catch {
    return none; // another program has written it
  }
};

export interface KeptSettings extends ListSettings {
  change: (changed: Partial<ListSettings>) => void;
}

/** `list`: the name of the page. Users of one browser have settings of their own. */
export const useListSettings = (list: string): KeptSettings => {
  const user = useSession()?.deployment?.identity ?? '';
  const key = `list-${list}-${user}`;
  const text = useSyncExternalStore(subscribeToPreferences, () => keptText(key));
  return useMemo(() => {
    const settings = readSettings(text);
    return { ...settings, change: (changed) => keepText(key, JSON.stringify({ ...settings, ...changed })) };
  }, [key, text]);
};

export type NamedColumn = Pick<Column<never>, 'name' | 'isExtra' | 'isFixed'>;

/** True for a column with a text as name, except the one with the link of the row. */
export const isChoosable = <C extends NamedColumn>(column: C): column is C & { name: string } =>
  typeof column.name === 'string' && column.isFixed !== true;

export const isColumnShown = (
  { name, isExtra }: Pick<NamedColumn, 'isExtra'> & { name: string },
  toggled: readonly string[],
): boolean => toggled.includes(name) === (isExtra === true);

export const shownColumns = <Row>(
  columns: readonly Column<Row>[],
  toggled: readonly string[],
): Column<Row>[] => columns.filter((column) => !isChoosable(column) || isColumnShown(column, toggled));

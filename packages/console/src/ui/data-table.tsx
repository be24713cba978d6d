// A table. Each column is an object with its header and a function that renders its cells. A click on a row clicks the link or button with
// `data-row` in that row.
import { Fragment, type MouseEvent, type ReactNode } from 'react';

export interface Column<Row> {
  name: ReactNode;
  cell: (row: Row) => ReactNode;
  /** `number` aligns right, `wide` takes the remaining width and cuts its text, `optional` is hidden on narrow pages. */
  className?: string;
  title?: (row: Row) => string | undefined;
  /** Its cells are the headers of their rows. */
  isHeader?: true;
  /** Hidden until the person chooses it. */
  isExtra?: true;
  /** Cannot be hidden: it has the link of the row. */
  isFixed?: true;
}

/** The row that is open: its details are shown below it. */
interface OpenedRow<Row> {
  key: string | undefined;
  label: (row: Row) => string;
  details: (row: Row) => ReactNode;
}

interface DataTableProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string | number;
  label?: string | undefined;
  className?: string;
  /** In place of a table without rows. */
  empty?: ReactNode;
  opened?: OpenedRow<Row>;
}

const rightButton = 2;

/** A click on a row, beside its links and buttons, clicks its `data-row` control. With Ctrl or the middle button, a link opens in a new tab. */
const press = (event: MouseEvent<HTMLTableRowElement>): void => {
  if (event.button === rightButton || (event.target as Element).closest('a, button, .select') !== null)
    return;
  const control = event.currentTarget.querySelector<HTMLElement>('[data-row]');
  const isForNewTab = event.button === 1 || event.ctrlKey || event.metaKey;
  if (isForNewTab && control instanceof HTMLAnchorElement) window.open(control.href, '_blank', 'noopener');
  else if (event.button === 0) control?.click();
};

export const DataTable = <Row,>({
  rows,
  columns,
  keyOf,
  label,
  className = '',
  empty,
  opened,
}: DataTableProps<Row>): ReactNode => {
  if (rows.length === 0 && empty !== undefined) return empty;
  return (
    <table className={`table ${className}`} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, className: classes }, index) => (
            <th key={index} scope="col" className={classes}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const key = keyOf(row);
          const isOpened = opened?.key === key;
          return (
            <Fragment key={key}>
              <tr onClick={press} onAuxClick={press} aria-selected={opened && isOpened}>
                {columns.map(({ cell, title, className: classes, isHeader }, index) => {
                  const attributes = { className: classes, title: title?.(row), children: cell(row) };
                  return isHeader ? (
                    <th key={index} scope="row" {...attributes} />
                  ) : (
                    <td key={index} {...attributes} />
                  );
                })}
              </tr>
              {opened && isOpened && (
                <tr>
                  <td colSpan={columns.length} className="row-details">
                    <div role="region" aria-label={opened.label(row)}>
                      {opened.details(row)}
                    </div>
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
};

/** The button of a row that shows and hides its details. */
export const RowToggle = ({
  label,
  title,
  isOpen,
  onToggle,
  children,
}: {
  label: string;
  title?: string;
  isOpen: boolean;
  onToggle: () => void;
  children: ReactNode;
}): ReactNode => (
  <button
    type="button"
    data-row
    className="button mono row-toggle"
    data-kind="plain"
    aria-expanded={isOpen}
    aria-label={label}
    title={title}
    onClick={onToggle}
  >
    {children}
  </button>
);

// What a person does with a list as a whole: chooses its columns, keeps its address with a name, saves what it finds as a file, and
// copies its request.
import { Link, useLocation } from '@tanstack/react-router';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ApiCall } from '../api/snippets.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { Code } from './code-button.tsx';
import { csvOf, downloadMax, readAll, type ReadPage, saveFile } from './download.ts';
import { isChoosable, isColumnShown, type KeptSettings, type NamedColumn } from './list-settings.ts';
import { parseSearch } from './search-text.ts';

interface ListToolsProps {
  /** The name of the list, which files of it have too. */
  list: string;
  settings: KeptSettings;
  columns: readonly NamedColumn[];
  /** The request of the filter; undefined while the filter is not valid. */
  request: { call: ApiCall; read: ReadPage } | undefined;
}

export const ListTools = ({ list, settings, columns, request }: ListToolsProps): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>List…</Button>
      {isOpen && (
        <Dialog
          title={`This list of ${list}`}
          isWide
          onClose={close}
          actions={<Button onClick={close}>Close</Button>}
        >
          <Columns columns={columns} settings={settings} />
          <Views settings={settings} onOpen={close} />
          {request && (
            <>
              <Download list={list} read={request.read} />
              <h3>Read it from a program</h3>
              <Code call={request.call} />
            </>
          )}
        </Dialog>
      )}
    </>
  );
};

const Columns = ({ columns, settings }: Pick<ListToolsProps, 'columns' | 'settings'>): ReactNode => {
  const { toggled, change } = settings;
  return (
    <fieldset className="row">
      <legend>Columns</legend>
      {columns.filter(isChoosable).map((column) => (
        <label key={column.name} className="row">
          <input
            type="checkbox"
            checked={isColumnShown(column, toggled)}
            onChange={() =>
              change({
                toggled: toggled.includes(column.name)
                  ? toggled.filter((name) => name !== column.name)
                  : [...toggled, column.name],
              })
            }
          />
          {column.name}
        </label>
      ))}
    </fieldset>
  );
};

const nameMax = 80;

const Views = ({ settings, onOpen }: { settings: KeptSettings; onOpen: () => void }): ReactNode => {
  const { views, change } = settings;
  const search = useLocation({ select: ({ searchStr }) => searchStr });
  const [text, setText] = useState('');
  const name = text.trim();
  return (
    <section className="stack" aria-label="Saved views">
      <h3>Saved views</h3>
      {views.map((view) => (
        <div key={view.name} className="row">
          <Link to="." search={parseSearch(view.search) as never} onClick={onOpen}>
            {visibleText(view.name)}
          </Link>
          <Button
            kind="plain"
            aria-label={`Forget ${view.name}`}
            onClick={() => change({ views: views.filter((one) => one !== view) })}
          >
            <Icon name="trash" size={12} />
          </Button>
        </div>
      ))}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (name === '') return;
          change({ views: [...views.filter((one) => one.name !== name), { name, search }] });
          setText('');
        }}
      >
        <input
          className="field"
          aria-label="Name of the view"
          placeholder="name for the filter of the address"
          maxLength={nameMax}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" disabled={name === ''}>
          Save this view
        </Button>
      </form>
    </section>
  );
};

const formats = {
  CSV: { type: 'text/csv', ending: 'csv', write: csvOf },
  JSON: {
    type: 'application/json',
    ending: 'json',
    write: (rows: readonly object[]) => JSON.stringify(rows, undefined, 2),
  },
} as const;

type Format = keyof typeof formats;

const Download = ({ list, read }: { list: string; read: ReadPage }): ReactNode => {
  const [count, setCount] = useState(0);
  const current = useRef<AbortController>(undefined);
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const controller = new AbortController();
      current.current = controller;
      setCount(0);
      const found = await readAll(read, { signal: controller.signal, onRead: setCount });
      const { type, ending, write } = formats[format];
      saveFile(`${list}.${ending}`, type, write(found.rows));
      return found;
    },
  });
  // The request ends with the dialog.
  useEffect(() => () => current.current?.abort(), []);
  const isStopped = current.current?.signal.aborted === true;
  return (
    <section className="stack" aria-label="Download">
      <h3>Download what the filter finds</h3>
      <div className="row">
        {(Object.keys(formats) as Format[]).map((format) => (
          <Button key={format} disabled={save.isPending} onClick={() => save.mutate(format)}>
            {format}
          </Button>
        ))}
        {save.isPending && (
          <Button kind="danger" onClick={() => current.current?.abort()}>
            Stop
          </Button>
        )}
        <span className="muted" role="status">
          {save.isPending && `${count} of at most ${downloadMax} read`}
          {save.isSuccess &&
            `${save.data.rows.length} saved${save.data.isWhole ? '' : `: a file has at most ${downloadMax}. Narrow the filter`}.`}
          {save.isError && isStopped && 'Stopped: nothing was saved.'}
        </span>
      </div>
      <ErrorNotice error={isStopped ? undefined : save.error} />
    </section>
  );
};

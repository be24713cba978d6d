// What a tree shows of a part that is read when it is opened.
import { useState, type ReactNode } from 'react';
import { entriesIn, type StoredPart } from '../stored/stored-part.ts';
import { useEntries, useText } from '../stored/stored-queries.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNotice, Failure } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';

interface More {
  /** How many entries are not shown. */
  left: number;
  onMore: () => void;
}

export const StoredEntries = ({
  part,
  children,
}: {
  part: StoredPart;
  children: (entries: [string, unknown][], more: More) => ReactNode;
}): ReactNode => {
  const { data, error, hasNextPage, refetch, fetchNextPage } = useEntries(part);
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Reading />;
  const entries = data.pages.flatMap((page) => entriesIn(part, page));
  const left = hasNextPage ? part.length - part.from - entries.length : 0;
  return (
    <>
      {children(entries, { left, onMore: () => void fetchNextPage() })}
      <ErrorNotice error={error} />
    </>
  );
};

export const StoredText = ({ part }: { part: StoredPart }): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const { data, error, isFetching, refetch, fetchNextPage } = useText(part, isOpen);
  const text = data?.pages.map((page) => page.text ?? '').join('') ?? part.preview;
  const left = part.length - text.length;
  const readMore = (): void => {
    if (data) void fetchNextPage();
    else if (error) void refetch();
    else setOpen(true);
  };
  return (
    <span data-type="string">
      {visibleText(text)}
      {left > 0 && (
        <Button kind="plain" disabled={isFetching} onClick={readMore}>
          {isFetching ? 'Reading …' : `${left} more characters`}
        </Button>
      )}
      <ErrorNotice error={error} />
    </span>
  );
};

const Reading = (): ReactNode => (
  <span className="muted" role="status">
    Reading …
  </span>
);

// Files of an export: from its manifest when it is complete, otherwise those that its partition runs have written so far.
import type { BulkExport, ExportManifest } from '@svc/sdk';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { statusOf } from '../platform/export-status.ts';
import { Button } from '../ui/button.tsx';
import { CopyText } from '../ui/copy.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { countOf, sizeOf } from '../ui/number-text.ts';
import { pageNumber, Pager, pageSize, pageText } from '../ui/paging.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { LocalTime } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useManifest, usePartitionRuns } from './export-queries.ts';

const route = getRouteApi('/exports/$exportId');

/** The folder that all files of an export share: up to the project. */
const sharedFolder = /^.*?\/(?:project|session_id)=[^/]+\//;

const columns: readonly Column<ExportManifest['files'][number]>[] = [
  {
    name: 'File',
    className: 'wide mono',
    title: ({ key }) => key,
    cell: ({ key }) => visibleText(key.replace(sharedFolder, '')),
  },
  { name: 'Rows', className: 'number', cell: ({ rows }) => countOf(rows) },
  { name: 'Size', className: 'number', cell: ({ bytes }) => sizeOf(bytes) },
  { name: 'First start', className: 'optional', cell: (file) => <LocalTime at={file.min_start_time} /> },
  {
    name: 'SHA-256',
    cell: ({ sha256 }) => <CopyText text={sha256} shown={sha256.slice(0, 12)} label="SHA-256" />,
  },
];

interface Shown {
  found: BulkExport;
}

export const ExportFiles = ({ found }: Shown): ReactNode =>
  statusOf(found) === 'completed' ? <ManifestFiles found={found} /> : <WrittenFiles found={found} />;

const ManifestFiles = ({ found }: Shown): ReactNode => {
  const query = useManifest(found);
  const [shown, setShown] = useState(pageSize);
  return (
    <Loaded query={query}>
      {({ files }) =>
        files.length === 0 ? (
          <State icon="empty" title="No trace run was in the time range">
            <p className="muted">Days without trace runs have no file.</p>
          </State>
        ) : (
          <>
            <p className="muted pad">
              In <code>{visibleText(sharedFolder.exec(files[0]?.key ?? '')?.[0] ?? '')}</code>
            </p>
            <DataTable rows={files.slice(0, shown)} columns={columns} keyOf={({ key }) => key} />
            {files.length > shown && (
              <div className="load-more">
                <Button onClick={() => setShown(shown + 10 * pageSize)}>
                  {countOf(files.length - shown)} more
                </Button>
              </div>
            )}
          </>
        )
      }
    </Loaded>
  );
};

const WrittenFiles = ({ found }: Shown): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePartitionRuns(found, { page: search.page });
  return (
    <>
      <Loaded query={query}>
        {(runs) => {
          const files = runs.flatMap(({ metadata }) => metadata.result?.exported_files ?? []);
          return files.length === 0 ? (
            <State icon="empty" title="No file has been written yet" />
          ) : (
            <ul className="pad stack mono export-paths">
              {files.map((file) => (
                <li key={file}>{visibleText(file)}</li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      <Pager
        page={pageNumber(search.page)}
        count={query.data?.length}
        labels={['Earlier', 'Later']}
        onPage={(next) => void navigate({ search: { ...search, page: pageText(next) }, replace: true })}
      />
    </>
  );
};

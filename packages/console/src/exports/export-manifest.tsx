import type { BulkExport, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { CopyText } from '../ui/copy-text.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { useManifest } from './export-queries.ts';
import { isOpenExport, statusOf } from '../platform/export-status.ts';

export const ExportManifestView = ({
  client,
  found,
}: {
  client: PlatformClient;
  found: BulkExport;
}): ReactNode => {
  const query = useManifest(client, found);
  if (statusOf(found) !== 'completed')
    return (
      <State icon="empty" title="There is no manifest">
        <p className="muted">
          {isOpenExport(found)
            ? 'It is written last, when all other files exist.'
            : 'Only a completed export has one.'}
        </p>
      </State>
    );
  return (
    <Loaded query={query}>
      {(manifest) => (
        <div className="pad stack">
          <p>
            <CopyText text={JSON.stringify(manifest, undefined, 2)} shown="Copy the manifest as JSON" />
          </p>
          <JsonTree value={manifest} openDepth={1} />
        </div>
      )}
    </Loaded>
  );
};

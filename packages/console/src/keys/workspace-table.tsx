import { useQueryClient } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { forgetAnswers, KeyForm, needsOtherKey } from '../platform/key-gate.tsx';
import { chooseWorkspace, useAccess } from '../platform/platform-access.ts';
import { useWorkspaces } from '../platform/workspaces.ts';
import { CopyId } from '../ui/copy-id.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { keysNeed } from './key-queries.ts';

/** The workspaces of the key, and which of them the pages of traces, exports and keys show. */
export const WorkspaceTable = ({ client }: { client: PlatformClient }): ReactNode => {
  const queries = useQueryClient();
  const access = useAccess();
  const query = useWorkspaces(client);
  if (needsOtherKey(query.error)) return <KeyForm need={keysNeed} refusal={query.error} />;
  const use = (id: string): void => {
    chooseWorkspace(id);
    forgetAnswers(queries);
  };
  return (
    <Loaded query={query}>
      {(workspaces) => (
        <table className="table keys">
          <thead>
            <tr>
              <th scope="col">Workspace</th>
              <th scope="col">Id</th>
              <th scope="col">Role of your key</th>
              <th scope="col">Created</th>
              <th scope="col">Shown</th>
            </tr>
          </thead>
          <tbody>
            {workspaces.map(({ id, display_name: name, role_name: role, created_at: created }) => (
              <tr key={id}>
                <td className="wide">{visibleText(name)}</td>
                <td>
                  <CopyId id={id} label="workspace id" />
                </td>
                <td>{visibleText(role)}</td>
                <td>
                  <Ago at={created} />
                </td>
                <td>
                  {workspaces.length === 1 || access?.workspaceId === id ? (
                    'in use'
                  ) : (
                    <button type="button" className="button" onClick={() => use(id)}>
                      Use<span className="visually-hidden"> {visibleText(name)}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Loaded>
  );
};

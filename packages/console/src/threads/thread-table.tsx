import { Link, useNavigate } from '@tanstack/react-router';
import type { Thread } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { ThreadBadge } from './thread-badge.tsx';
import { ownerOf } from './thread-filter.ts';
import type { ThreadRow } from './thread-queries.ts';

export const ThreadTable = ({ threads }: { threads: readonly ThreadRow[] }): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Thread</th>
        <th scope="col">Graph</th>
        <th scope="col">Newest message</th>
        <th scope="col" className="optional">
          Owner
        </th>
        <th scope="col" className="number">
          State changed
        </th>
        <th scope="col" className="number optional">
          Created
        </th>
      </tr>
    </thead>
    <tbody>
      {threads.map((thread) => (
        <Row key={thread.thread_id} thread={thread} />
      ))}
    </tbody>
  </table>
);

const shown = (text: string): string => visibleText(text.slice(0, 60));

const Row = ({ thread }: { thread: ThreadRow }): ReactNode => {
  const navigate = useNavigate();
  const { thread_id: threadId, metadata, status, asks } = thread;
  const target = { to: '/threads/$threadId', params: { threadId } } as const;
  const graph = metadata['graph_id'];
  return (
    <tr onClick={() => void navigate(target)}>
      <td>
        <ThreadBadge status={status} asks={asks} />
      </td>
      <td>
        <Link {...target} data-row className="mono" aria-label={`Thread ${threadId}`}>
          {threadId.slice(0, 8)}
        </Link>
      </td>
      <td>{typeof graph === 'string' ? shown(graph) : ''}</td>
      <td className="wide">{visibleText(previewOf(thread))}</td>
      <td className="optional">
        <OwnerLink owner={ownerOf(thread)} />
      </td>
      <td className="number">
        <Ago at={thread.state_updated_at} />
      </td>
      <td className="number optional">
        <Ago at={thread.created_at} />
      </td>
    </tr>
  );
};

/** Filters the list by the owner, beside the rest of the filter. */
const OwnerLink = ({ owner }: { owner: string | undefined }): ReactNode =>
  owner !== undefined && (
    <Link
      from="/threads"
      to="."
      search={(search) => ({ ...search, owner, page: undefined })}
      title="Show the threads of this owner"
      // The row opens the thread.
      onClick={(event) => event.stopPropagation()}
    >
      {shown(owner)}
    </Link>
  );

const charsMax = 200;

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join(' ');
};

/** The first words of the newest message, or of the first one when the newest has no text. */
const previewOf = ({ extracted = {} }: Pick<Thread, 'extracted'>): string =>
  (textOf(extracted['last']) || textOf(extracted['first'])).replaceAll(/\s+/g, ' ').slice(0, charsMax);

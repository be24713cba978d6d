import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyId } from '../ui/copy.tsx';

export const ThreadLink = ({ threadId }: { threadId: string | undefined }): ReactNode =>
  threadId === undefined ? null : (
    <span className="row">
      <Link to="/threads/$threadId" params={{ threadId }}>
        Thread
      </Link>
      <CopyId id={threadId} label="thread id" />
    </span>
  );

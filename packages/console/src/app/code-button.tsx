import { type ReactNode, useState } from 'react';
import { type ApiCall, snippetsOf } from '../api/snippets.ts';
import { useSession } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { apiUrl } from './addresses.ts';

/** The call of the API as programs make it. */
export const Code = ({ call }: { call: ApiCall }): ReactNode => {
  const session = useSession();
  return (
    session &&
    snippetsOf(call, apiUrl, session.sign_in).map((snippet) => (
      <CodeBlock key={snippet.language} {...snippet} />
    ))
  );
};

/** Shows how a program reads the object of the page. */
export const CodeButton = ({ call }: { call: ApiCall }): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Code…</Button>
      {isOpen && (
        <Dialog
          title="Read this from a program"
          isWide
          onClose={close}
          actions={<Button onClick={close}>Close</Button>}
        >
          <Code call={call} />
        </Dialog>
      )}
    </>
  );
};

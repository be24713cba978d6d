import { type ReactNode, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { acceptedTypes, type Attachment, withFiles } from './attachments.ts';

export interface Attachments {
  attached: readonly Attachment[];
  /** Why the last files were not attached. */
  error: Error | undefined;
  add: (files: readonly File[]) => void;
  remove: (attachment: Attachment) => void;
  clear: () => void;
  /** Attaches unsent files again, unless the person has attached other files since. */
  restore: (attached: readonly Attachment[]) => void;
}

/** The files of the next message. */
export const useAttachments = (): Attachments => {
  const [attached, setAttached] = useState<readonly Attachment[]>([]);
  const [error, setError] = useState<Error>();
  return {
    attached,
    error,
    add: (files) => {
      if (files.length === 0) return;
      setError(undefined);
      withFiles(attached, files).then(setAttached, setError);
    },
    remove: (removed) => setAttached(attached.filter((one) => one !== removed)),
    clear: () => {
      setAttached([]);
      setError(undefined);
    },
    restore: (earlier) => setAttached((now) => (now.length === 0 ? earlier : now)),
  };
};

/** The files, each with a button that removes it, and a button for more. */
export const AttachmentRow = ({
  files: { attached, error, add, remove },
}: {
  files: Attachments;
}): ReactNode => {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="row">
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files of the message"
        accept={acceptedTypes}
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          // The same file can be chosen again after it was removed.
          target.value = '';
        }}
      />
      <Button kind="plain" onClick={() => input.current?.click()}>
        <Icon name="plus" size={13} /> Attach files
      </Button>
      {attached.map((one, index) => (
        <button
          key={index}
          type="button"
          className="chip"
          aria-label={`Remove ${visibleText(one.name)}`}
          title="Remove"
          onClick={() => remove(one)}
        >
          {visibleText(one.name.slice(0, 60))} ✕
        </button>
      ))}
      <ErrorNotice error={error} />
    </div>
  );
};

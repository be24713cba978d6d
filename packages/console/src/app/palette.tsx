// The command palette: pages, assistants, and the id of a thread or an assistant.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError } from '@svc/sdk';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { pages } from './pages.ts';
import { isId } from './search-text.ts';

interface Command {
  key: string;
  icon: IconName;
  label: string;
  hint: string;
  open: () => void;
}

export const Palette = ({ onClose }: { onClose: () => void }): ReactNode => {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const commands = useCommands(text.trim());
  const choose = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.open();
  };
  const handleKey = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSelected(Math.min(commands.length - 1, Math.max(0, selected + step)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(commands[selected]);
    }
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        className="field palette-field"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={commands[selected] && `palette-${selected}`}
        aria-label="A page, an assistant, or the id of a thread"
        placeholder="A page, an assistant, or the id of a thread"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setSelected(0);
        }}
        onKeyDown={handleKey}
      />
      <div id="palette-list" role="listbox" aria-label="Results" className="palette-list">
        {commands.map((command, index) => (
          <div
            key={command.key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            className="palette-item"
            onClick={() => choose(command)}
          >
            <Icon name={command.icon} />
            <span className="palette-label">{command.label}</span>
            <span className="muted">{command.hint}</span>
          </div>
        ))}
      </div>
      {commands.length === 0 && <p className="muted">Nothing is found for this text.</p>}
    </Dialog>
  );
};

const resultsMax = 12;

const useCommands = (text: string): Command[] => {
  const navigate = useNavigate();
  const assistants = useAssistants();
  const found = useThreadById(isId(text) ? text : undefined);
  const matches = (label: string): boolean => label.toLowerCase().includes(text.toLowerCase());
  const threads: Command[] =
    found === undefined
      ? []
      : [
          {
            key: found,
            icon: 'threads',
            label: found,
            hint: 'thread',
            open: () => void navigate({ to: '/threads/$threadId', params: { threadId: found } }),
          },
        ];
  const toPages = pages
    .filter(({ label }) => matches(label))
    .map(({ to, label, icon, key }): Command => ({
      key: to,
      icon,
      label,
      hint: `g ${key}`,
      open: () => void navigate({ to }),
    }));
  const toAssistants = (assistants.data ?? [])
    .filter(({ name, assistant_id: id, graph_id: graph }) => matches(name) || matches(graph) || id === text)
    .map(({ assistant_id: id, name }): Command => ({
      key: id,
      icon: 'playground',
      label: name,
      hint: 'open in the playground',
      open: () => void navigate({ to: '/playground', search: { assistant: id } }),
    }));
  return [...threads, ...toPages, ...toAssistants].slice(0, resultsMax);
};

const useThreadById = (threadId: string | undefined): string | undefined => {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['palette', threadId],
    queryFn: async ({ signal }) => {
      try {
        return (await client.threads.get(threadId ?? '', { select: ['thread_id'], signal })).thread_id;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    enabled: threadId !== undefined,
  });
  return data ?? undefined;
};

// The command palette: pages, assistants, the id of a thread, run, trace or assistant, metadata of threads, and text in traces.
import type { Client, PlatformClient } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { useAccess } from '../platform/platform-access.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { useMenu } from './menu.ts';
import { readMetadataFilter } from './metadata-filter.ts';
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
        aria-label={findable}
        placeholder={findable}
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
      {commands.length === 0 && (
        <p className="muted">
          Nothing is found for this text. Threads are found by their metadata, for example{' '}
          <code>customer:"Ann Lee"</code>.
        </p>
      )}
    </Dialog>
  );
};

const findable = 'A page, an assistant, an id, key:value of threads, or text in traces';

const resultsMax = 12;

const useCommands = (text: string): Command[] => {
  const navigate = useNavigate();
  const menu = useMenu();
  const assistants = useAssistants();
  const found = useFound(isId(text) ? text : undefined);
  const matches = (label: string): boolean => label.toLowerCase().includes(text.toLowerCase());
  const toFound = found.map((one): Command => {
    const shown = { key: `${one.kind} ${text}`, label: text, hint: one.kind };
    switch (one.kind) {
      case 'thread':
        return {
          ...shown,
          icon: 'threads',
          open: () => void navigate({ to: '/threads/$threadId', params: { threadId: one.threadId } }),
        };
      case 'run':
        return {
          ...shown,
          icon: 'runs',
          open: () =>
            void navigate({
              to: '/runs/$runId',
              params: { runId: one.runId },
              search: { thread: one.threadId },
            }),
        };
      case 'trace':
        return {
          ...shown,
          icon: 'traces',
          open: () =>
            void navigate({
              to: '/traces/$traceId',
              params: { traceId: one.traceId },
              search: { sel: one.spanId },
            }),
        };
    }
  });
  const toPages = menu
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
  return [...toFound, ...toPages, ...toAssistants, ...useSearches(text)].slice(0, resultsMax);
};

/** Searches that continue on a page: threads by metadata, and traces by a text of their names, errors, inputs or outputs. */
const useSearches = (text: string): Command[] => {
  const navigate = useNavigate();
  const readsTraces = useAccess() !== undefined;
  if (text === '' || isId(text)) return [];
  const { metadata, problem } = readMetadataFilter(text);
  // Many search engines take a text in quotes as a phrase, which it is here without them too.
  const phrase = /^"(.+)"$/.exec(text)?.[1] ?? text;
  const threads: Command = {
    key: 'threads with metadata',
    icon: 'threads',
    label: `Threads with ${text}`,
    hint: 'metadata',
    open: () => void navigate({ to: '/threads', search: { meta: text } }),
  };
  const traces: Command = {
    key: 'traces with text',
    icon: 'traces',
    label: `Traces with “${phrase}”`,
    hint: 'inputs, outputs, errors, names',
    open: () => void navigate({ to: '/traces', search: { filter: `search(${JSON.stringify(phrase)})` } }),
  };
  return [...(metadata && !problem ? [threads] : []), ...(readsTraces ? [traces] : [])];
};

const useFound = (id: string | undefined): FoundById[] => {
  const client = useClient();
  const platform = useAccess()?.client;
  const { data } = useQuery({
    queryKey: ['palette', id, platform !== undefined],
    queryFn: ({ signal }) => findById({ client, platform }, id ?? '', signal),
    enabled: id !== undefined,
  });
  return data ?? [];
};

// What a pasted id names: a thread, a run, or a trace.
type FoundById =
  | { kind: 'thread'; threadId: string }
  | { kind: 'run'; runId: string; threadId: string }
  | { kind: 'trace'; traceId: string; spanId: string };

interface Clients {
  client: { threads: Pick<Client['threads'], 'search'>; runs: Pick<Client['runs'], 'search'> };
  /** Undefined without access to traces. */
  platform: { traces: Pick<PlatformClient['traces'], 'query'> } | undefined;
}

/** Uses searches, because a read of something that does not exist is an error. */
export const findById = async (
  clients: Clients,
  given: string,
  signal: AbortSignal,
): Promise<FoundById[]> => {
  const id = given.toLowerCase();
  const { client, platform } = clients;
  const [threads, runs, traces] = await Promise.all([
    client.threads.search({ ids: [id], select: ['thread_id'], limit: 1 }, { signal }),
    client.runs.search({ run_id: id, select: ['thread_id'], limit: 1 }, { signal }),
    platform?.traces.query({ id: [id], select: ['id', 'trace_id'], limit: 1 }, { signal }),
  ]);
  if (threads.length > 0) return [{ kind: 'thread', threadId: id }];
  // The root of a trace has the id of its run.
  return [
    ...runs.map(({ thread_id: threadId }) => ({ kind: 'run' as const, runId: id, threadId })),
    ...(traces?.runs ?? []).map(({ trace_id: traceId }) => ({ kind: 'trace' as const, traceId, spanId: id })),
  ];
};

// Try an assistant: talk to it, watch its graph, answer its questions, edit a message and fork. Or two of them, with the same inputs.
import type { Assistant } from '@svc/sdk';
import { getRouteApi } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useRef } from 'react';
import { useAssistants, useSchemas } from '../api/queries.ts';
import { isOpen } from '../api/statuses.ts';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useChosenVersion, VersionNotice } from './chosen-version.tsx';
import { useColumnAddress } from './column-address.ts';
import { Columns } from './columns.tsx';
import { Composer } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import { GraphPanel } from './graph-panel.tsx';
import { PlaygroundHead } from './playground-head.tsx';
import { useRunSettings } from './run-settings.ts';
import { ConfigForm, SidePanel } from './side-panel.tsx';
import { type Conversation as ConversationOf, useConversation } from './use-conversation.ts';
import './playground.css';

const route = getRouteApi('/playground');

export const PlaygroundPage = (): ReactNode => {
  const assistants = useAssistants();
  const { assistant: chosen, compare } = route.useSearch();
  return (
    <Loaded query={assistants}>
      {(all) => {
        const assistant = findAssistant(all, chosen) ?? all[0];
        if (!assistant) return <NoAssistants />;
        const compared = compare === undefined ? undefined : (findAssistant(all, compare) ?? assistant);
        return <Playground assistant={assistant} compared={compared} all={all} />;
      }}
    </Loaded>
  );
};

/** By its id, or by its graph. */
const findAssistant = (all: readonly Assistant[], name: string | undefined): Assistant | undefined =>
  all.find(({ assistant_id: id, graph_id: graph }) => id === name || graph === name);

const NoAssistants = (): ReactNode => (
  <State icon="empty" title="There is no assistant yet">
    <p className="muted">Every graph in svc.json has one. Add a graph, and start the server again:</p>
    <pre>{'"graphs": { "agent": "./agent.ts:agent" }'}</pre>
  </State>
);

const Playground = ({
  assistant,
  compared,
  all,
}: {
  assistant: Assistant;
  compared: Assistant | undefined;
  all: readonly Assistant[];
}): ReactNode => {
  const { part = 'talk' } = route.useSearch();
  const talk = useRef<HTMLElement>(null);
  const isComparison = compared !== undefined;
  const schemas = useSchemas(assistant.assistant_id);
  const chosen = useChosenVersion(assistant.assistant_id);
  const { version } = chosen;
  const { settings, setSettings, options, problem } = useRunSettings(
    assistant.assistant_id,
    isComparison,
    version,
  );
  const left = useConversation(assistant, options, useColumnAddress('left'));
  // Without a comparison, the right one has no thread and reads nothing.
  const right = useConversation(compared ?? assistant, options, useColumnAddress('right'));
  const shown = isComparison ? [left, right] : [left];
  return (
    <div className="page">
      <PlaygroundHead assistant={assistant} all={all} conversation={left} isComparison={isComparison} />
      {version && <VersionNotice assistant={assistant} version={version} />}
      {!isComparison && <PartTabs />}
      <div
        className="playground"
        data-comparison={isComparison || undefined}
        data-part={isComparison ? 'talk' : part}
      >
        {!isComparison && (
          <GraphPanel
            assistantId={assistant.assistant_id}
            activity={left.activity}
            isRestored={left.isRestored}
          />
        )}
        <section className="playground-talk" aria-label="Conversation and input" ref={talk}>
          {isComparison ? (
            <Columns
              left={{ assistant, conversation: left }}
              right={{ assistant: compared, conversation: right }}
              all={all}
            />
          ) : (
            <Conversation assistant={assistant} conversation={left} />
          )}
          {isComparison && <ConfigOfBoth schemas={schemas.data} settings={settings} onChange={setSettings} />}
          <Composer
            assistantId={assistant.assistant_id}
            schema={schemas.data?.input_schema}
            {...sendingTo(shown)}
            questions={shown.flatMap(({ questions }) => questions).length}
            problem={chosen.problem ?? problem}
            onFold={() => talk.current?.querySelector<HTMLElement>('.question')?.focus()}
          />
        </section>
        {!isComparison && (
          <SidePanel
            assistant={assistant}
            threadId={left.threadId}
            schemas={schemas.data}
            settings={settings}
            onSettings={setSettings}
            state={left.state}
          />
        )}
      </div>
    </div>
  );
};

/** How the composer sends: into the runs that execute, or as new runs. */
const sendingTo = (
  shown: readonly ConversationOf[],
): Pick<ComponentProps<typeof Composer>, 'sending' | 'onSend'> => {
  const isInto = shown.every(({ isRunning, run }) => isRunning && run !== undefined && isOpen(run.status));
  return {
    sending: isInto ? 'into' : shown.some(({ isBusy }) => isBusy) ? 'none' : 'run',
    onSend: async (input) => {
      const taken = await Promise.all(
        shown.map(({ send, sendInto }) => (isInto ? sendInto(input) : send(input))),
      );
      return taken.includes(true);
    },
  };
};

const ConfigOfBoth = (form: ComponentProps<typeof ConfigForm>): ReactNode => (
  <details className="comparison-config">
    <summary className="muted">Config of both</summary>
    <ConfigForm {...form} />
  </details>
);

const parts = [
  { name: 'talk', label: 'Conversation' },
  { name: 'graph', label: 'Graph' },
  { name: 'settings', label: 'Config and state' },
] as const;

/** On a narrow screen, one part of the page is shown at a time. A wide screen shows all, without these tabs. */
const PartTabs = (): ReactNode => {
  const { part = 'talk' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="playground-parts">
      <Tabs
        label="Parts of the playground"
        tabs={parts}
        active={part}
        onChange={(next) =>
          void navigate({
            search: (search) => ({ ...search, part: next === 'talk' ? undefined : next }),
            replace: true,
          })
        }
      />
    </div>
  );
};

// Try an assistant: talk to it, watch its graph, answer its questions, edit a message and fork.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import { useRef, useState, type ReactNode } from 'react';
import { useAssistants, useSchemas } from '../api/queries.ts';
import { CopyId } from '../ui/copy-id.tsx';
import { Icon } from '../ui/icons.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { visibleText } from '../values/visible-text.ts';
import { Composer } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import { GraphPanel } from './graph-panel.tsx';
import { noSettings, readSettings, type RunSettings } from './run-settings.ts';
import { RunStatus } from './run-status.tsx';
import { SidePanel } from './side-panel.tsx';
import { useConversation } from './use-conversation.ts';
import './playground.css';

const route = getRouteApi('/playground');

export const PlaygroundPage = (): ReactNode => {
  const assistants = useAssistants();
  const { assistant: chosen } = route.useSearch();
  return (
    <Loaded query={assistants}>
      {(all) => {
        const assistant =
          all.find(({ assistant_id: id, graph_id: graph }) => id === chosen || graph === chosen) ??
          all.at(-1);
        return assistant ? (
          <Playground key={assistant.assistant_id} assistant={assistant} all={all} />
        ) : (
          <NoAssistants />
        );
      }}
    </Loaded>
  );
};

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

const NoAssistants = (): ReactNode => (
  <State icon="empty" title="There is no assistant yet">
    <p className="muted">Every graph in svc.json has one. Add a graph, and start the server again:</p>
    <pre>{'"graphs": { "agent": "./agent.ts:agent" }'}</pre>
  </State>
);

const Playground = ({ assistant, all }: { assistant: Assistant; all: readonly Assistant[] }): ReactNode => {
  const navigate = route.useNavigate();
  const { thread: threadId, panel = 'config', part = 'talk' } = route.useSearch();
  const talk = useRef<HTMLElement>(null);
  const schemas = useSchemas(assistant.assistant_id);
  const [settings, setSettings] = useState<RunSettings>(noSettings);
  const read = readSettings(settings);
  const conversation = useConversation(assistant, 'options' in read ? read.options : {});
  const problem = 'problem' in read ? read.problem : undefined;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Playground</h1>
        <label className="row">
          <span className="visually-hidden">Assistant</span>
          <select
            className="field"
            data-filter
            value={assistant.assistant_id}
            onChange={(event) => void navigate({ search: { assistant: event.target.value, panel } })}
          >
            {all.map(({ assistant_id: id, name, version }) => (
              <option key={id} value={id}>
                {visibleText(name)} v{version}
              </option>
            ))}
          </select>
        </label>
        {threadId !== undefined && (
          <span className="row">
            <Link to="/threads/$threadId" params={{ threadId }}>
              Thread
            </Link>
            <CopyId id={threadId} label="thread id" />
          </span>
        )}
        <RunStatus conversation={conversation} />
        <div className="page-actions">
          <button
            type="button"
            className="button"
            disabled={threadId === undefined}
            onClick={() => {
              conversation.clear();
              void navigate({ search: { assistant: assistant.assistant_id, panel } });
            }}
          >
            <Icon name="plus" size={14} /> New thread
          </button>
        </div>
      </header>
      <PartTabs />
      <div className="playground" data-part={part}>
        <GraphPanel assistantId={assistant.assistant_id} activity={conversation.activity} />
        <section className="playground-talk" aria-label="Conversation and input" ref={talk}>
          <Conversation assistant={assistant} conversation={conversation} />
          <Composer
            schema={schemas.data?.input_schema}
            isBusy={conversation.isRunning}
            questions={conversation.questions.length}
            problem={problem}
            onSend={(input) => void conversation.send(input)}
            onFold={() => talk.current?.querySelector<HTMLElement>('.question')?.focus()}
          />
        </section>
        <SidePanel
          panel={panel}
          onPanel={(next) =>
            void navigate({ search: (search) => ({ ...search, panel: next }), replace: true })
          }
          schemas={schemas.data}
          settings={settings}
          onSettings={setSettings}
          state={conversation.state}
        />
      </div>
    </div>
  );
};

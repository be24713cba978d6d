// Home of a server that has executed nothing yet: how its first agent is called, here and from a program.
import type { Assistant } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSchemas } from '../api/queries.ts';
import type { ApiCall } from '../api/snippets.ts';
import { apiUrl } from '../app/addresses.ts';
import { Code } from '../app/code-button.tsx';
import { messagesField } from '../graph/read-schema.ts';
import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/panel.tsx';
import { visibleText } from '../ui/visible-text.ts';

export const FirstHour = ({ assistant }: { assistant: Assistant }): ReactNode => {
  const { assistant_id: id, name, graph_id: graph, description } = assistant;
  const schemas = useSchemas(id);
  if (schemas.isPending) return null;
  const call = firstCall(graph, messagesField(schemas.data?.input_schema));
  return (
    <Panel title="No run has been started yet">
      <div className="pad stack">
        {description !== null && <p className="muted">{visibleText(description ?? '')}</p>}
        <p>
          <Link to="/playground" search={{ assistant: id }} className="button" data-kind="primary">
            <Icon name="playground" size={14} /> Talk to {visibleText(name)}
          </Link>
        </p>
        <p className="muted">
          Or call it from a program. The{' '}
          <a href={`${apiUrl}/docs`} target="_blank" rel="noopener noreferrer">
            API reference
          </a>{' '}
          has all routes.
        </p>
        <Code call={call} />
      </div>
    </Panel>
  );
};

/** `messages`: the field of the input that holds a conversation, if there is one. */
const firstCall = (graph: string, messages: string | undefined): ApiCall => {
  const input = messages === undefined ? {} : { [messages]: [{ role: 'user', content: 'Hello' }] };
  return {
    method: 'POST',
    path: '/runs/wait',
    body: { assistant_id: graph, input },
    sdk: { name: 'runs.wait', args: [null, graph], options: { input } },
  };
};

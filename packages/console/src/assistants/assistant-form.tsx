// The forms of an assistant: a new one, and a new version of one. What the graph reads is edited by the schemas of the graph.
import type { Assistant, GraphSchemas } from '@svc/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants, useSchemas } from '../api/queries.ts';
import { configurableSchema, type ObjectDraft, objectDraft, readObject } from '../graph/object-draft.ts';
import { ObjectFields } from '../graph/object-fields.tsx';
import { AreaField, SelectField, TextField } from '../ui/form-field.tsx';
import { type Form, FormDialog, useForm } from '../ui/form.tsx';
import { mayBeRounded } from '../values/read-json.ts';

interface Draft {
  /** Of a new assistant; empty for the first graph. */
  graph: string;
  name: string;
  description: string;
  /** Undefined while they were not touched: then they are not sent. */
  configurable?: ObjectDraft | undefined;
  context?: ObjectDraft | undefined;
}

const paths = {
  graph: 'graph_id',
  name: 'name',
  description: 'description',
  configurable: 'config',
  context: 'context',
} as const;

const isObjectDraft = (draft: ObjectDraft | undefined): boolean =>
  draft === undefined || 'value' in readObject(draft);

const isReady = ({ name, configurable, context }: Draft): boolean =>
  name.trim() !== '' && isObjectDraft(configurable) && isObjectDraft(context);

const valueOf = (draft: ObjectDraft): Record<string, unknown> => {
  const read = readObject(draft);
  // The server refuses what is not an object, and says where.
  return 'value' in read ? ((read.value ?? {}) as Record<string, unknown>) : {};
};

/** What the form does not show of the assistant stays, also that it has no description. */
const toRequest = ({ name, description, configurable, context }: Draft, assistant?: Assistant) => ({
  name: name.trim(),
  ...(description.trim() !== (assistant?.description ?? '') && { description: description.trim() }),
  ...(configurable && { config: { ...assistant?.config, configurable: valueOf(configurable) } }),
  ...(context && { context: valueOf(context) as Assistant['context'] }),
});

/** Closes the form, and opens the page of the assistant at its newest version. */
const useOpen = (onClose: () => void): ((assistant: Assistant) => Promise<void>) => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async ({ assistant_id: assistantId }) => {
    onClose();
    await queries.invalidateQueries({ queryKey: ['assistants'] });
    await navigate({ to: '/assistants/$assistantId', params: { assistantId } });
  };
};

export const NewAssistant = ({
  graph = '',
  onClose,
}: {
  graph: string | undefined;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const onSent = useOpen(onClose);
  const { data: assistants = [] } = useAssistants();
  const graphs = [...new Set(assistants.map(({ graph_id: id }) => id))];
  const chosenIn = (draft: Draft): string => draft.graph || (graphs[0] ?? '');
  const form = useForm<Draft, Assistant>({
    initial: { graph, name: '', description: '' },
    keptAs: `assistant-${graph}`,
    paths,
    isReady: (draft) => chosenIn(draft) !== '' && isReady(draft),
    send: (draft) => client.assistants.create({ graph_id: chosenIn(draft), ...toRequest(draft) }),
    onSent,
  });
  const chosen = chosenIn(form.draft);
  const schemas = useSchemas(chosen === '' ? undefined : chosen);
  return (
    <FormDialog title="New assistant" isWide action="Create" form={form} onClose={onClose}>
      <SelectField
        label="Graph"
        choices={graphs.map((id) => [id, id])}
        {...form.field('graph')}
        value={chosen}
        onChange={(next) => form.change({ graph: next, configurable: undefined, context: undefined })}
      />
      <AssistantFields form={form} schemas={schemas.data} />
    </FormDialog>
  );
};

/** Edits the current version of an assistant. The result is a new version, which becomes the current one. */
export const NewVersion = ({
  assistant,
  onClose,
}: {
  assistant: Assistant;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const onSent = useOpen(onClose);
  const { assistant_id: assistantId, graph_id: graph, version, name, description } = assistant;
  const schemas = useSchemas(assistantId);
  const form = useForm<Draft, Assistant>({
    initial: { graph, name, description: description ?? '' },
    keptAs: `assistant-${assistantId}-${version}`,
    paths,
    isReady,
    send: (draft) => client.assistants.update(assistantId, toRequest(draft, assistant)),
    onSent,
  });
  return (
    <FormDialog
      title={`Edit version ${version}`}
      isWide
      action="Save as a new version"
      form={form}
      onClose={onClose}
    >
      <AssistantFields form={form} schemas={schemas.data} assistant={assistant} />
    </FormDialog>
  );
};

const AssistantFields = ({
  form: { field, draft, change, problemAt, submit },
  schemas,
  assistant,
}: {
  form: Form<Draft, Assistant>;
  schemas: GraphSchemas | undefined;
  /** Undefined for a new one. */
  assistant?: Assistant;
}): ReactNode => {
  const contextSchema = schemas?.context_schema;
  const config = assistant?.config.configurable;
  const objects = [
    ['context', 'Context', contextSchema, objectDraft(assistant?.context ?? undefined, contextSchema)],
    [
      'configurable',
      'Configurable',
      schemas?.config_schema,
      objectDraft(config, configurableSchema(schemas)),
    ],
  ] as const;
  return (
    <>
      <TextField label="Name" isMono={false} isFocused {...field('name')} />
      <AreaField label="Description" {...field('description')} onSubmit={submit} />
      {objects.map(([name, label, schema, initial]) =>
        mayBeRounded(name === 'configurable' ? assistant?.config : assistant?.context) ? (
          <p key={name} className="muted">
            {label} has an integer that a browser rounds: change it over the API.
          </p>
        ) : (
          <ObjectFields
            key={name}
            label={label}
            schema={schema}
            draft={draft[name] ?? initial}
            problem={problemAt(paths[name])}
            onChange={(changed) => change({ [name]: changed })}
            onSubmit={submit}
          />
        ),
      )}
    </>
  );
};

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { useGraph } from '../api/queries.ts';
import { refreshChanged } from '../api/refresh.ts';
import { useStillHere } from '../app/use-still-here.ts';
import { readGraph } from '../graph/read-graph.ts';
import { useStoredState } from '../stored/stored-queries.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { SelectField } from '../ui/form-field.tsx';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { useDraft } from '../ui/use-draft.ts';
import { visibleText } from '../ui/visible-text.ts';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, readExactObject } from '../values/read-json.ts';
import { nodeLabel, stepOf } from './checkpoint-row.ts';
import type { CheckpointEditor, ChosenCheckpoint } from './run-at.ts';
import { draftOf, type StateDraft } from './state-draft.ts';

const route = getRouteApi('/threads/$threadId');

const titleOf = ({ row, name }: ChosenCheckpoint): string =>
  `Edit the state after step ${stepOf(row)} · ${name}`;

export const EditState = (editor: CheckpointEditor): ReactNode => {
  const { chosen, onClose } = editor;
  const { thread, row, checkpointId } = chosen;
  const parent = row.parent_checkpoint_id;
  const state = useStoredState(thread.thread_id, checkpointId);
  const before = useStoredState(thread.thread_id, parent);
  if (state.data && (before.data || parent === null))
    return <StateDialog {...editor} draft={draftOf(before.data?.values, state.data.values)} />;
  return (
    <Dialog title={titleOf(chosen)} onClose={onClose}>
      <Loaded query={state}>{() => <Loaded query={before}>{() => null}</Loaded>}</Loaded>
    </Dialog>
  );
};

const StateDialog = ({
  chosen,
  assistantId,
  runAt,
  onClose,
  draft,
}: CheckpointEditor & { draft: StateDraft }): ReactNode => {
  const { thread, row, checkpointId } = chosen;
  const wrote = row.nodes ?? [];
  const navigate = route.useNavigate();
  const isStillHere = useStillHere();
  const initial = useMemo(() => formatJson(draft.update), [draft]);
  const [text, setText] = useDraft(`state-${thread.thread_id}-${checkpointId}`, initial);
  const [asNode, setAsNode] = useState(wrote[0]);
  const read = readExactObject(text, 'The update must be an object whose keys are channels.');
  const fork = useFork(thread.thread_id, checkpointId);
  const save = useMutation({
    mutationFn: async ({ values, isRun }: { values: Record<string, unknown>; isRun: boolean }) => {
      const { checkpointId: id, next } = await fork({ values, asNode });
      // After the last node of a graph there is nothing to run: the page shows so.
      if (isRun && next.length > 0) {
        // The draft stays when the run is refused.
        await runAt({ checkpointId: id, input: null });
        setText(initial);
        return;
      }
      setText(initial);
      onClose();
      if (isStillHere()) await navigate({ search: (search) => ({ ...search, checkpoint: id }) });
    },
  });
  const isReady = 'value' in read && !save.isPending;
  const submit = (isRun: boolean): void => {
    if ('value' in read && !save.isPending) save.mutate({ values: read.value, isRun });
  };
  return (
    <Dialog
      title={titleOf(chosen)}
      isWide
      onClose={onClose}
      actions={
        <DialogActions
          action="Fork and run"
          isDisabled={!isReady}
          onAction={() => submit(true)}
          onClose={onClose}
        >
          <Button disabled={!isReady} onClick={() => submit(false)}>
            Fork only
          </Button>
        </DialogActions>
      }
    >
      <p className="muted">
        The update makes a new checkpoint after this one, on a branch of its own. This checkpoint and what
        followed it stay.
      </p>
      <JsonField
        label="Update of the state, as JSON"
        value={text}
        problem={'problem' in read ? read.problem : undefined}
        onChange={setText}
        onSubmit={() => submit(true)}
        rows={12}
      />
      {'value' in read && (
        <AddChannels
          draft={draft}
          update={read.value}
          onAdd={(name) => setText(formatJson({ ...read.value, [name]: draft.channels[name] }))}
        />
      )}
      <Notes draft={draft} hasParent={row.parent_checkpoint_id !== null} />
      <AsNodeSelect assistantId={assistantId} wrote={wrote} node={asNode} onChange={setAsNode} />
      <ErrorNotice error={save.error} />
    </Dialog>
  );
};

/** Buttons that put the value of another channel into the update. */
const AddChannels = ({
  draft: { channels },
  update,
  onAdd,
}: {
  draft: StateDraft;
  update: Record<string, unknown>;
  onAdd: (name: string) => void;
}): ReactNode => {
  const others = Object.keys(channels).filter((name) => !Object.hasOwn(update, name));
  if (others.length === 0) return null;
  return (
    <div className="chips" role="group" aria-label="Other channels">
      {others.map((name) => (
        <button key={name} type="button" className="chip" onClick={() => onAdd(name)}>
          + {visibleText(name)}
        </button>
      ))}
    </div>
  );
};

const namesOf = (names: readonly string[]): string => visibleText(names.join(', '));

const Notes = ({
  draft: { unread, additive },
  hasParent,
}: {
  draft: StateDraft;
  hasParent: boolean;
}): ReactNode => (
  <>
    {!hasParent && <p>The update begins empty, because the checkpoint has no parent to compare it with.</p>}
    {unread.length > 0 && <p>Left out, because the page has not read the whole value: {namesOf(unread)}.</p>}
    {additive.length > 0 && (
      <p>Left out, because a reducer may add the value once more: {namesOf(additive)}.</p>
    )}
    <p className="muted">
      The update goes through the reducers of the channels, like the output of a node. A message replaces the
      one with its <code>id</code>, or is appended; <code>{'{"type": "remove", "id": "…"}'}</code> removes
      one. A channel without a reducer takes the new value. Another reducer may append a list or add a number.
    </p>
  </>
);

/** Chooses the node as which an update is written; undefined leaves it to the server. `wrote`: the nodes that wrote the checkpoint. */
const AsNodeSelect = ({
  assistantId,
  wrote,
  node,
  onChange,
}: {
  assistantId: string | undefined;
  wrote: readonly string[];
  node: string | undefined;
  onChange: (node: string | undefined) => void;
}): ReactNode => {
  const graph = useGraph(assistantId);
  const nodes = graph.data ? readGraph(graph.data).nodes.filter(({ kind }) => kind === 'node') : [];
  const others = nodes.map(({ id }) => id).filter((id) => !wrote.includes(id));
  return (
    <SelectField
      label="As node"
      hint="The nodes that follow this one run next."
      value={node ?? ''}
      onChange={(value) => onChange(value === '' ? undefined : value)}
    >
      <Options label="Wrote this checkpoint" nodes={wrote} />
      <Options label="Other nodes" nodes={others} />
      <option value="">None: the node that wrote last</option>
    </SelectField>
  );
};

const Options = ({ label, nodes }: { label: string; nodes: readonly string[] }): ReactNode =>
  nodes.length > 0 && (
    <optgroup label={label}>
      {nodes.map((node) => (
        <option key={node} value={node}>
          {nodeLabel(node)}
        </option>
      ))}
    </optgroup>
  );

// A state update at a checkpoint: it creates a checkpoint on a branch of its own.
interface StateUpdate {
  values: Record<string, unknown>;
  /** The update is stored as a write of this node. Undefined: of the node that wrote last. */
  asNode: string | undefined;
}

interface Fork {
  checkpointId: string;
  /** The nodes that a run from it executes. */
  next: string[];
}

/** Repeating the last update returns its fork. Users repeat it when the server has refused the run from the fork. */
const useFork = (threadId: string, checkpointId: string): ((update: StateUpdate) => Promise<Fork>) => {
  const client = useClient();
  const queries = useQueryClient();
  const last = useRef<{ update: string; fork: Fork }>(undefined);
  return async ({ values, asNode }) => {
    const update = JSON.stringify([values, asNode]);
    if (last.current?.update === update) return last.current.fork;
    const { checkpoint } = await client.threads.updateState(threadId, {
      values,
      checkpointId,
      ...(asNode === undefined ? {} : { asNode }),
    });
    const id = checkpoint.checkpoint_id ?? '';
    const { next } = await client.threads.getState(threadId, { checkpointId: id, select: ['next'] });
    const fork = { checkpointId: id, next };
    last.current = { update, fork };
    await refreshChanged(queries);
    return fork;
  };
};

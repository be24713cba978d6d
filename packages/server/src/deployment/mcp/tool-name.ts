// Names of tools. Model APIs accept at most 64 letters, digits, underscores and hyphens. A name contains everything that is needed to find
// its assistant.
import { assistantIdOf } from '../assistants/default-assistant.ts';

interface Named {
  assistant_id: string;
  graph_id: string;
  name: string;
}

const charsMax = 64;
const legal = /^[\w-]{1,64}$/;
const withId = /^(?:[\w-]*-)?([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** The id of the graph for its default assistant; for other assistants the name and the id: `support-0b1c…`. */
export const toolNameOf = ({ assistant_id, graph_id, name }: Named): string => {
  const isDefault = assistantIdOf(graph_id) === assistant_id;
  if (isDefault && legal.test(graph_id) && !withId.test(graph_id)) return graph_id;
  const id = assistant_id.replaceAll('-', '');
  const readable = name.replaceAll(/[^\w]+/g, '_').slice(0, charsMax - id.length - 1);
  return `${readable}-${id}`;
};

/** The id of the assistant of a tool; undefined when no tool can have this name. */
export const assistantIdIn = (toolName: string): string | undefined => {
  if (!legal.test(toolName)) return undefined;
  const id = withId.exec(toolName)?.slice(1).join('-');
  return id ?? assistantIdOf(toolName);
};

// The templates: the examples of the repository. An installed package contains them in `templates/`.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Template {
  name: string;
  description: string;
  folder: string;
  /** The graphs are in Python; package.json has only the server. */
  isPython?: boolean;
}

const folderOf = (name: string, example: string): string => {
  const packaged = fileURLToPath(new URL(`../templates/${name}`, import.meta.url));
  return existsSync(packaged)
    ? packaged
    : fileURLToPath(new URL(`../../../examples/${example}`, import.meta.url));
};

export const templates: Template[] = [
  { name: 'agent', description: 'an agent that calls tools', folder: folderOf('agent', 'agent') },
  {
    name: 'agent-python',
    description: 'the same agent in Python',
    folder: folderOf('agent-python', 'agent-python'),
    isPython: true,
  },
  {
    name: 'human-in-the-loop',
    description: 'a graph that waits for the approval of a person',
    folder: folderOf('human-in-the-loop', 'human-in-the-loop'),
  },
  {
    name: 'auth',
    description: 'users with API keys; teams see only their own threads',
    folder: folderOf('auth', 'auth-api-key'),
  },
];

export const findTemplate = (name: string): Template | undefined =>
  templates.find((template) => template.name === name);

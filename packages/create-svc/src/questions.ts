// What create-svc asks in a terminal.
import { cancel, isCancel, select, text } from '@clack/prompts';
import { templates } from './templates.ts';

export interface Questions {
  folder: () => Promise<string>;
  template: () => Promise<string>;
}

/** Ctrl-C ends the program; nothing has been written by then. */
const answered = (answer: string | symbol): string => {
  if (!isCancel(answer)) return String(answer);
  cancel('Nothing was created.');
  process.exit(1);
};

export const askInTerminal: Questions = {
  folder: async () =>
    answered(
      await text({ message: 'Folder of the new project', placeholder: 'my-agent', defaultValue: 'my-agent' }),
    ),
  template: async () =>
    answered(
      await select({
        message: 'Template',
        options: templates.map(({ name, description }) => ({ value: name, label: name, hint: description })),
      }),
    ),
};

/** With --yes: the first answer of each. */
export const useDefaults: Questions = {
  folder: () => Promise.resolve('my-agent'),
  template: () => Promise.resolve('agent'),
};

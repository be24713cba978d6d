// Which answers an interrupt takes. Graphs may ask with any value; two forms are known: those of LangChain's middleware for people in
// the loop, and those of the agent inbox.
import { isObject } from '../messages/read-messages.ts';

export interface Question {
  /** The key of its answer in `command.resume`. */
  id: string | undefined;
  /** The node that waits. */
  node: string;
  value: unknown;
}

export interface Choice {
  /** What the button says. */
  label: string;
  /** The answer, or a function of the text or of the arguments that the person writes. */
  needs: 'nothing' | 'text' | 'args';
  answer: (given: unknown) => unknown;
}

export interface Form {
  title: string;
  description: string;
  /** What the graph wants to do, when it says so. */
  args: unknown;
  /** Empty when any JSON is an answer. */
  choices: Choice[];
}

type Fields = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The first question of a task that waits, in words. */
export const titleOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [first] = [value].flat();
  if (!isObject(first))
    return value === undefined || value === null ? 'Waiting for an answer' : JSON.stringify(value);
  for (const key of ['question', 'title', 'message', 'description', 'prompt'])
    if (text(first[key]) !== '') return text(first[key]);
  const request = requestOf(first);
  return request === undefined
    ? 'Waiting for an answer'
    : `Allow ${text(request['name']) || text(request['action'])}?`;
};

const requestOf = (value: Fields): Fields | undefined => {
  const several = value['action_requests'];
  const [first] = Array.isArray(several) ? several : [value['action_request']];
  return isObject(first) ? first : undefined;
};

export const readInterrupt = (value: unknown): Form =>
  middlewareForm(value) ??
  inboxForm(value) ?? { title: titleOf(value), description: '', args: undefined, choices: [] };

/** `{action_requests, review_configs}`, answered by `{decisions}`. Several requests are answered as JSON. */
const middlewareForm = (value: unknown): Form | undefined => {
  if (!isObject(value) || !Array.isArray(value['action_requests']) || value['action_requests'].length !== 1)
    return undefined;
  const request = requestOf(value);
  if (!request) return undefined;
  const name = text(request['name']);
  const [config] = Array.isArray(value['review_configs']) ? value['review_configs'] : [];
  const allowed =
    isObject(config) && Array.isArray(config['allowed_decisions'])
      ? config['allowed_decisions']
      : ['approve', 'reject'];
  const decide = (decision: Fields) => ({ decisions: [decision] });
  const choices: (Choice & { type: string })[] = [
    { type: 'approve', label: 'Approve', needs: 'nothing', answer: () => decide({ type: 'approve' }) },
    {
      type: 'edit',
      label: 'Run edited',
      needs: 'args',
      answer: (args) => decide({ type: 'edit', edited_action: { name, args } }),
    },
    {
      type: 'reject',
      label: 'Reject',
      needs: 'text',
      answer: (message) => decide({ type: 'reject', message }),
    },
    {
      type: 'respond',
      label: 'Respond',
      needs: 'text',
      answer: (message) => decide({ type: 'respond', message }),
    },
  ];
  return {
    title: `Allow ${name}?`,
    description: text(request['description']),
    args: request['args'] ?? request['arguments'],
    choices: choices.filter(({ type }) => allowed.includes(type)),
  };
};

/** `{action_request, config}`, alone or in a list, answered by a list of `{type, args}`. */
const inboxForm = (value: unknown): Form | undefined => {
  const [first] = [value].flat();
  if (!isObject(first) || !isObject(first['action_request'])) return undefined;
  const { action_request: request, config } = first as { action_request: Fields; config?: unknown };
  const allows = (name: string): boolean => !isObject(config) || config[name] === true;
  const { args } = request;
  const action = text(request['action']);
  const choices: Choice[] = [];
  if (allows('allow_accept'))
    choices.push({ label: 'Accept', needs: 'nothing', answer: () => [{ type: 'accept', args: null }] });
  if (allows('allow_edit'))
    choices.push({
      label: 'Run edited',
      needs: 'args',
      answer: (edited) => [{ type: 'edit', args: { action, args: edited } }],
    });
  if (allows('allow_respond'))
    choices.push({
      label: 'Respond',
      needs: 'text',
      answer: (message) => [{ type: 'response', args: message }],
    });
  if (allows('allow_ignore'))
    choices.push({ label: 'Ignore', needs: 'nothing', answer: () => [{ type: 'ignore', args: null }] });
  return { title: `Allow ${action}?`, description: text(first['description']), args, choices };
};

/** Questions of the tasks of a state. */
export const questionsOf = ({
  tasks,
}: {
  tasks: readonly { name: string; interrupts: readonly { id?: string | undefined; value?: unknown }[] }[];
}): Question[] =>
  tasks.flatMap(({ name, interrupts }) => interrupts.map(({ id, value }) => ({ id, node: name, value })));

/** What `command.resume` has to be: by interrupt id, where the interrupt has one. */
export const resumeOf = ({ id }: Question, answer: unknown): unknown =>
  id === undefined ? answer : { [id]: answer };

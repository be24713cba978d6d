// Which answers an interrupt takes. Graphs may ask with any value; two forms are known: those of LangChain's middleware for people in
// the loop, in the spellings of Python and JavaScript, and those of the agent inbox.
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
  /** The decision, or a function of the text or of the arguments that the person writes. */
  needs: 'nothing' | 'text' | 'args';
  decide: (given: unknown) => unknown;
}

/** One action that the graph wants to do. */
export interface Action {
  title: string;
  description: string;
  args: unknown;
  choices: Choice[];
}

export interface Form {
  title: string;
  /** In the order of the decisions. Empty when any value is an answer. */
  actions: Action[];
  /** The answer from one decision for each action. */
  answer: (decisions: unknown[]) => unknown;
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

/** A field in the spelling of Python or of JavaScript. */
const either = (value: Fields, python: string, javaScript: string): unknown =>
  value[python] ?? value[javaScript];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const requestOf = (value: Fields): Fields | undefined => {
  const [first = value['action_request']] = listOf(either(value, 'action_requests', 'actionRequests'));
  return isObject(first) ? first : undefined;
};

export const readInterrupt = (value: unknown): Form =>
  middlewareForm(value) ??
  inboxForm(value) ?? { title: titleOf(value), actions: [], answer: ([decision]) => decision };

const titleOfActions = ([first, ...others]: Action[]): string =>
  others.length === 0 ? (first?.title ?? '') : `Allow ${others.length + 1} actions?`;

/** `{action_requests, review_configs}`, or `{actionRequests, reviewConfigs}` of JavaScript, answered by `{decisions}`. */
const middlewareForm = (value: unknown): Form | undefined => {
  if (!isObject(value)) return undefined;
  const requests = listOf(either(value, 'action_requests', 'actionRequests'));
  if (requests.length === 0 || !requests.every(isObject)) return undefined;
  const configs = listOf(either(value, 'review_configs', 'reviewConfigs')).filter(isObject);
  const edited = Array.isArray(value['action_requests']) ? 'edited_action' : 'editedAction';
  const actions = requests.map((request, index): Action => {
    const name = text(request['name']);
    const config = configs.find((one) => either(one, 'action_name', 'actionName') === name) ?? configs[index];
    const allowed = config && either(config, 'allowed_decisions', 'allowedDecisions');
    return {
      title: `Allow ${name}?`,
      description: text(request['description']),
      args: request['args'] ?? request['arguments'],
      choices: middlewareChoices(name, edited)
        .filter(({ type }) => (Array.isArray(allowed) ? allowed : ['approve', 'reject']).includes(type))
        .map(({ choice }) => choice),
    };
  });
  return { title: titleOfActions(actions), actions, answer: (decisions) => ({ decisions }) };
};

const middlewareChoices = (name: string, edited: string): { type: string; choice: Choice }[] => [
  { type: 'approve', choice: { label: 'Approve', needs: 'nothing', decide: () => ({ type: 'approve' }) } },
  {
    type: 'edit',
    choice: {
      label: 'Run edited',
      needs: 'args',
      decide: (args) => ({ type: 'edit', [edited]: { name, args } }),
    },
  },
  {
    type: 'reject',
    choice: { label: 'Reject', needs: 'text', decide: (message) => ({ type: 'reject', message }) },
  },
  {
    type: 'respond',
    choice: { label: 'Respond', needs: 'text', decide: (message) => ({ type: 'respond', message }) },
  },
];

/** `{action_request, config}`, alone or in a list, answered by a list of `{type, args}`. */
const inboxForm = (value: unknown): Form | undefined => {
  const requests = [value].flat();
  if (requests.length === 0) return undefined;
  const actions: Action[] = [];
  for (const request of requests) {
    if (!isObject(request) || !isObject(request['action_request'])) return undefined;
    actions.push(inboxAction(request, request['action_request']));
  }
  return { title: titleOfActions(actions), actions, answer: (decisions) => decisions };
};

const inboxAction = ({ config, description }: Fields, request: Fields): Action => {
  const { args } = request;
  const action = text(request['action']);
  const choices: { allowedBy: string; choice: Choice }[] = [
    {
      allowedBy: 'allow_accept',
      choice: { label: 'Accept', needs: 'nothing', decide: () => ({ type: 'accept', args: null }) },
    },
    {
      allowedBy: 'allow_edit',
      choice: {
        label: 'Run edited',
        needs: 'args',
        decide: (edited) => ({ type: 'edit', args: { action, args: edited } }),
      },
    },
    {
      allowedBy: 'allow_respond',
      choice: {
        label: 'Respond',
        needs: 'text',
        decide: (message) => ({ type: 'response', args: message }),
      },
    },
    {
      allowedBy: 'allow_ignore',
      choice: { label: 'Ignore', needs: 'nothing', decide: () => ({ type: 'ignore', args: null }) },
    },
  ];
  return {
    title: `Allow ${action}?`,
    description: text(description),
    args,
    choices: choices
      .filter(({ allowedBy }) => !isObject(config) || config[allowedBy] === true)
      .map(({ choice }) => choice),
  };
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

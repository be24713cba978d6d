import type { ListedDifference } from './difference.ts';

export const errors: readonly ListedDifference[] = [
  {
    behaviour:
      'Errors are JSON: `{detail, message, code, request_id}`, [as documented](threads-and-runs.md#errors).',
    reason: 'Clients read `message` or `detail`, and programs `code`. The id finds the request in the log.',
    where: { '*': ['~ **.problem', '+ **.problem.*', '- **.problem.*'] },
  },
  {
    behaviour: 'JSON has the type `application/json`, that of errors and waits included.',
    reason: 'Clients and proxies see what it is.',
    where: { '*': ['~ **.headers.content-type = "application/json"'] },
  },
  {
    behaviour:
      'The text of an error begins as on the stock server, and then names the object and what to do.',
    reason: 'Whoever reads it in a log can find the object.',
    where: { '*': ['> **.error'] },
  },
  {
    behaviour:
      'The error for an object that cannot be seen is `Thread not found: …`, `Run not found: …` on every route.',
    reason:
      'One text for one cause. It is the same for an object that does not exist and one of another user.',
    where: {
      threads: ['~ * deleted.error', '~ * of deleted.error'],
      errors: ['~ run of unknown thread.error', '~ runs of unknown thread.error'],
      auth: ['~ bob: *.error', '~ foreign *.error'],
    },
  },
  {
    behaviour: 'The error for an assistant that does not exist lists the graphs.',
    reason: 'Most often, the name of a graph is misspelled.',
    where: { errors: ['~ * an unknown graph.error', '~ run of an unknown assistant.error'] },
  },
  {
    behaviour: 'A request that an auth handler refuses gets a text.',
    reason: 'It says that the caller is known, and not allowed to do this.',
    where: { auth: ['~ refused by a handler.error', '~ ada: delete assistant.error'] },
  },
  {
    behaviour:
      'A request with invalid fields gets 422, and its text names the field. Bodies that are no JSON get 400, and where they end.',
    reason: '422 is for what can be parsed and is not valid.',
    where: {
      '*': ['~ **.status = 422'],
      assistants: ['~ create without graph.error'],
      threads: ['~ get what is no id.error'],
      supersteps: ['~ create without graph.error'],
      store: ['~ put *.error'],
      errors: [
        '~ run without assistant.error',
        '~ run with a wrong mode.error',
        '~ no JSON.error',
        '~ a list as body.error',
        '~ a thread id that is none.error',
      ],
    },
  },
  {
    behaviour: 'Unknown keys in a request are refused with 422.',
    reason:
      'A misspelled key would do nothing, and nobody would notice. Keys that stock clients send are accepted.',
    where: { errors: ['* run with an unknown key.**'] },
  },
  {
    behaviour: 'A run on a thread that does not exist gets 404.',
    reason: 'The client can create the thread, or set `if_not_exists`.',
    where: { errors: ['~ run on an unknown thread.*'] },
  },
  {
    behaviour: 'A path that no route has gets `No route has this path.`',
    reason: 'It is no object that is missing.',
    where: { errors: ['~ unknown route.error'] },
  },
  {
    behaviour: 'A body with the content type `text/plain` is refused with 415.',
    reason: 'Any web page can send such a body to any server without asking it first.',
    where: { system: ['* thread as text.**'] },
  },
];

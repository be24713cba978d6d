// Logs in, creates a thread, streams a run, and lists the user's threads, with fetch only.
const server = 'http://localhost:2024';
const element = (id) => document.getElementById(id);
const main = document.querySelector('main');

// Kept in memory only: localStorage is readable by every script of the page, and persists after the visit.
let token;

const request = async (url, options) => {
  const response = await fetch(url, {
    ...options,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
  });
  if (response.ok) return response;
  const { message } = await response.json();
  throw new Error(message);
};
const post = (url, body) => request(url, { method: 'POST', body: JSON.stringify(body) });

/** Yields the server-sent events of a response as `{event, data}`. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (text + value).split('\n\n');
    text = frames.pop();
    for (const frame of frames) {
      const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
      yield { event: field('event'), data: JSON.parse(field('data') ?? 'null') };
    }
  }
}

const show = (list, text) => {
  const item = document.createElement('li');
  item.textContent = text;
  element(list).append(item);
};

const listThreads = async () => {
  const response = await post(`${server}/threads/search`, { limit: 10 });
  element('threads').replaceChildren();
  for (const { thread_id, created_at, status } of await response.json())
    show('threads', `${new Date(created_at).toLocaleTimeString()}  ${thread_id}  ${status}`);
};

const ask = async () => {
  element('events').replaceChildren();
  const thread = await (await post(`${server}/threads`, {})).json();
  const stream = await post(`${server}/threads/${thread.thread_id}/runs/stream`, {
    assistant_id: 'planner',
    input: { messages: [{ role: 'user', content: 'What is on today?' }] },
    stream_mode: ['custom', 'updates'],
  });
  for await (const { event, data } of eventsOf(stream)) {
    if (event === 'custom') show('events', data);
    if (event === 'updates' && data.answer) show('events', data.answer.messages[0].content);
    if (event === 'error') throw new Error(data.message);
  }
  await listThreads();
};

const login = async () => {
  const { name, password } = Object.fromEntries(new FormData(element('login')));
  const response = await post('/login', { name, password });
  token = (await response.json()).access_token;
  element('who').textContent = name;
  element('login').hidden = true;
  main.hidden = false;
  await listThreads();
};

const logout = () => {
  token = undefined;
  element('login').hidden = false;
  main.hidden = true;
  for (const list of ['events', 'threads']) element(list).replaceChildren();
};

/** An event listener that shows errors of the action on the page. */
const showingErrors = (action) => (event) => {
  event.preventDefault();
  element('error').textContent = '';
  action().catch((error) => {
    element('error').textContent = error.message;
  });
};

element('login').addEventListener('submit', showingErrors(login));
element('ask').addEventListener('click', showingErrors(ask));
element('logout').addEventListener('click', logout);

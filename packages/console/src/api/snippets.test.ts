import { expect, it } from 'vitest';
import { snippetsOf } from './snippets.ts';

const url = 'http://127.0.0.1:2024';
const none = { kind: 'none', header: null, provider: null } as const;
const textOf = (language: string, ...given: Parameters<typeof snippetsOf>): string | undefined =>
  snippetsOf(...given).find((one) => one.language === language)?.text;

it('quotes texts, so that a shell and an interpreter take them as data', () => {
  const body = { input: `it's $(rm -rf ~) \`x\` "quoted"\n` };
  const call = {
    method: 'POST',
    path: '/runs/wait',
    body,
    sdk: { name: 'runs.wait', args: [null, 'agent'], options: body },
  } as const;
  expect(textOf('curl', call, url, none)).toContain(
    String.raw`-d '{"input":"it'\''s $(rm -rf ~) ` + '`x`' + String.raw` \"quoted\"\n"}'`,
  );
  expect(textOf('TypeScript', call, url, none)).toContain('await client.runs.wait(null, "agent", {');
  expect(textOf('Python', call, url, none)).toContain(
    String.raw`client.runs.wait(None, "agent", input="it's $(rm -rf ~) ` +
      '`x`' +
      String.raw` \"quoted\"\n")`,
  );
});

it('names options as each SDK does, and the variable that has the credential', () => {
  const options = { sort_by: 'created_at', metadata: { is_new: true } };
  const call = {
    method: 'POST',
    path: '/threads/search',
    body: options,
    sdk: { name: 'threads.search', args: [], options },
  } as const;
  const byKey = { ...none, kind: 'key' } as const;
  expect(textOf('curl', call, url, byKey)).toContain('-H "x-api-key: $SVC_API_KEY"');
  expect(textOf('TypeScript', call, url, byKey)).toContain('"sortBy": "created_at"');
  expect(textOf('Python', call, url, byKey)).toContain('sort_by="created_at", metadata={"is_new": True}');
  expect(textOf('Python', call, url, byKey)).toContain(`{"x-api-key": f"{os.environ['SVC_API_KEY']}"}`);
});

it('sends what the SDK has no method for by HTTP', () => {
  const call = { method: 'POST', path: '/runs/search', body: { limit: 5 } } as const;
  expect(textOf('Python', call, url, none)).toContain(
    'httpx.post("http://127.0.0.1:2024/runs/search", json={"limit": 5}).json()',
  );
  expect(textOf('TypeScript', call, url, none)).toContain('body: JSON.stringify({"limit":5})');
});

// svc dev in the folder of a Python project.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../folders.ts';
import { python, whyNoPythonClients } from '../python-clients/python.ts';
import { runCli } from './cli-process.ts';

const address = /API\s+(\S+)/;

const agent = `from typing import Annotated, TypedDict
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from prompts import PROMPT


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def reply(state: State):
    return {"messages": [AIMessage(PROMPT)]}


graph = StateGraph(State).add_node("reply", reply).add_edge(START, "reply").compile()
`;

const auth = `from langgraph_sdk import Auth
from names import NAME

auth = Auth()


@auth.authenticate
async def authenticate():
    return NAME
`;

const createPythonProject = () => {
  const dir = testFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  symlinkSync(join(python, '../..'), join(dir, '.venv'));
  write('langgraph.json', '{"dependencies": ["."], "graphs": {"agent": "./agent.py:graph"}, "env": ".env"}');
  write('.env', 'GREETING=hi');
  write('agent.py', agent);
  write('prompts.py', 'import os\nPROMPT = os.environ["GREETING"] + " first"\n');
  return { dir, write };
};

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const reply = async (url: string): Promise<string> =>
  (await post(`${url}/runs/wait`, { assistant_id: 'agent', input: { messages: [] } })).text();

describe.skipIf(whyNoPythonClients() !== undefined)('svc dev in a Python project', () => {
  it('serves it with its environment, and restarts on changes of the modules that it imports', async () => {
    const { dir, write } = createPythonProject();
    write('unused.py', '');
    await using svc = runCli(['dev', '--port', '0'], { cwd: dir });
    const [, url = ''] = await svc.prints(address);
    expect(svc.output()).toMatch(/Python 3\.\d+\.\d+ \(.*\.venv.*langgraph 1\./);
    expect(await reply(url)).toContain('"hi first"');
    write('unused.py', 'CHANGED = 1');
    const afterChange = async (path: string, text: string): Promise<string> => {
      const from = svc.output().length;
      write(path, text);
      const [, again = ''] = await svc.prints(/Serving agent at (\S+)\n/, from);
      expect(svc.output().slice(from)).toContain(`Changed: ${path}\n`);
      return reply(again);
    };
    expect(await afterChange('prompts.py', 'PROMPT = "second"\n')).toContain('"second"');
    // A mistake is reported, and its correction is noticed.
    expect(await afterChange('prompts.py', 'PROMPT = \n')).toMatch(/prompts\.py:1: SyntaxError/);
    expect(await afterChange('prompts.py', 'from wording import PROMPT\n')).toContain(
      "No module named 'wording'",
    );
    expect(await afterChange('wording.py', 'PROMPT = "third"\n')).toContain('"third"');
    expect(svc.output()).not.toMatch(/Changed: .*unused/);
  });

  it('restarts on changes of the modules of its auth file', async () => {
    const { dir, write } = createPythonProject();
    write('langgraph.json', '{"graphs": {"agent": "./agent.py:graph"}, "auth": {"path": "./auth.py:auth"}}');
    write('auth.py', auth);
    write('names.py', 'NAME = "ann"\n');
    write('prompts.py', 'PROMPT = "hi"\n');
    await using svc = runCli(['dev', '--port', '0'], { cwd: dir });
    const [, url = ''] = await svc.prints(address);
    const owner = async (at: string): Promise<unknown> =>
      ((await (await post(`${at}/threads`, {})).json()) as { metadata: unknown }).metadata;
    expect(await owner(url)).toMatchObject({ svc_auth_user_id: 'ann' });
    let from = svc.output().length;
    write('names.py', 'NAME = \n');
    await svc.prints(
      /auth\.py cannot be loaded: .*names\.py:1: SyntaxError[^]*waiting for the next change/,
      from,
    );
    from = svc.output().length;
    write('names.py', 'NAME = "ben"\n');
    const [, again = ''] = await svc.prints(/Serving agent at (\S+)\n/, from);
    expect(await owner(again)).toMatchObject({ svc_auth_user_id: 'ben' });
  });

  it('names the command that creates the environment when it was deleted', async () => {
    const { dir, write } = createPythonProject();
    write('requirements.txt', 'langgraph>=1.0');
    rmSync(join(dir, '.venv'));
    mkdirSync(join(dir, '.venv/bin'), { recursive: true });
    await using svc = runCli(['dev', '--port', '0'], { cwd: dir });
    const { code, stderr } = await svc.exit;
    expect(code).toBe(1);
    expect(stderr).toContain('python3 -m venv .venv && .venv/bin/pip install -r requirements.txt');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

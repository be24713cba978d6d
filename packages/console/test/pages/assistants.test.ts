import { expect, it } from 'vitest';
import { says } from '../conversations.ts';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';

describeInBrowser('the assistants', () => {
  const console = useConsole();

  it('are found by the filter in the address', async () => {
    const name = 'Found by its name';
    const { assistant_id: id } = await console.client.assistants.create({ graph_id: 'agent', name });
    const page = await console.open('/assistants?q=found+by');
    const rows = page.getByRole('row');
    await page.getByRole('link', { name }).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel('Graph').selectOption('patient');
    await page.getByRole('heading', { name: 'No assistant matches the filter' }).waitFor();
    await page.getByLabel('Graph').selectOption('agent');
    await page.getByRole('link', { name }).waitFor();
    await page.getByLabel('Graph').blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/assistants/${id}`);
  });
});

describeInBrowser('an assistant', () => {
  const console = useConsole();

  it('shows what its versions have changed, and gets another current version', async () => {
    const { assistants } = console.client;
    const configOf = (style: string) => ({ configurable: { style } });
    const body = { graph_id: 'agent', name: 'Styled', config: configOf('plain') };
    const { assistant_id: id } = await assistants.create(body);
    await assistants.update(id, { config: configOf('terse') });
    await assistants.update(id, { config: configOf('verbose'), name: 'Styled again' });
    const page = await console.open(`/assistants/${id}`);
    const change = page.getByRole('region', { name: 'changed config.configurable.style' });
    await change.getByText('terse').waitFor();
    await change.getByText('verbose').waitFor();
    await page.getByLabel('Changes since').selectOption('version 1');
    await change.getByText('plain').waitFor();
    expect(new URL(page.url()).search).toBe('?v=3&w=1');
    await page.reload();
    await change.getByText('plain').waitFor();
    await page.getByRole('link', { name: 'Version 2' }).click();
    await page.getByRole('button', { name: 'Make current…' }).click();
    await page.getByRole('button', { name: 'Make version 2 current' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(await assistants.get(id)).toMatchObject({ version: 2, config: configOf('terse') });
    await page.getByRole('region', { name: 'Version 2' }).locator('.badge', { hasText: 'current' }).waitFor();
  });

  it('runs an earlier version, and says what only the current one sets', async () => {
    const { assistants, runs } = console.client;
    const { assistant_id: id } = await assistants.create({
      graph_id: 'patient',
      name: 'Two tones',
      context: { tone: 'dry' },
    });
    await assistants.update(id, { context: { tone: 'warm', manner: 'slowly' } });
    const page = await console.open(`/assistants/${id}?v=1`);
    await page
      .getByRole('region', { name: 'Version 1' })
      .getByRole('link', { name: 'Run this version' })
      .click();
    await page.getByText('Runs get the config and context of version 1').waitFor();
    await page.getByText('only the current version sets: context.manner.').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('one two');
    await page.keyboard.press('Enter');
    await page.locator('.message[data-kind="ai"]').getByText('one two').waitFor();
    const [, threadId = ''] = /thread=([\w-]+)/.exec(page.url()) ?? [];
    const [run] = await runs.list(threadId, { limit: 1 });
    expect(run).toMatchObject({ assistant_id: id, kwargs: { context: { tone: 'dry' } } });
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use the current version' }).press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.has('version')).toBe(false);
    await page.goto(`${console.url}/console/playground?assistant=${id}&version=7`);
    await page.getByText('The assistant has no version 7.').waitFor();
  });

  it('is created, edited and deleted, with a form of what its graph reads', async () => {
    const { assistants, runs } = console.client;
    const page = await console.open('/assistants');
    await page.getByRole('button', { name: 'New assistant' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Graph').selectOption('patient');
    await dialog.getByLabel('Name').fill('Repeater');
    await dialog.getByLabel('manner').fill('slowly,\nword by word');
    await dialog.getByLabel('tone').selectOption('warm');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/assistants/*');
    const [, id = ''] = /assistants\/([\w-]+)/.exec(page.url()) ?? [];
    const context = { manner: 'slowly,\nword by word', tone: 'warm' };
    expect(await assistants.get(id)).toMatchObject({ name: 'Repeater', graph_id: 'patient', context });
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByLabel('tone').selectOption('dry');
    await dialog.getByRole('button', { name: 'Edit context as JSON' }).click();
    await dialog.getByLabel('Context, as JSON').fill('{ "tone": "dry", "speed": 9007199254740993 }');
    const save = dialog.getByRole('button', { name: 'Save as a new version' });
    await expect.poll(() => save.isDisabled()).toBe(true);
    await dialog.getByLabel('Context, as JSON').fill('{ "tone": "dry", "speed": 2 }');
    await save.click();
    await page.getByRole('region', { name: 'changed context.tone' }).getByText('dry').waitFor();
    const state = await runs.wait(null, id, { input: says('one two') });
    expect(state).toMatchObject({ plan: 'Repeat 1 messages  dry' });
    await page.reload();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByText('Also set, and not in the schema: speed').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the assistant' }).click();
    await page.waitForURL('**/assistants');
    await expect(assistants.get(id)).rejects.toMatchObject({ status: 404 });
  });

  it('that does not exist is said to be missing', async () => {
    const page = await console.open('/assistants/00000000-0000-4000-8000-000000000000', { expected: /404/ });
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });
});

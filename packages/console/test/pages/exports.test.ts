import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { bucket, folder, startExport, untilRetried } from '../exports.ts';
import { quotaExceeded, startObjectStore } from '../object-store.ts';
import { enterKey, tracesOf } from '../traces.ts';

const dayMs = 86_400_000;
const fieldTime = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

/** The colour of the progress of an export. */
const progressTone = (page: Page): Promise<string | null> =>
  page.getByRole('progressbar', { name: 'Progress', exact: true }).getAttribute('data-tone');

/** True when the longest option of a select fits into it. */
const fits = (select: HTMLElement | SVGElement): boolean => {
  const unbounded = select.cloneNode(true) as HTMLElement;
  unbounded.style.cssText = 'position: absolute; width: max-content';
  document.body.append(unbounded);
  const neededPx = unbounded.offsetWidth;
  unbounded.remove();
  return (select as HTMLElement).offsetWidth >= neededPx;
};

const badge = (page: Page, text: string) => page.locator('.page-head .badge', { hasText: text });

describeInBrowser('the exports', () => {
  const console = useConsole();

  it('are created by a form after a dry run, and end with files and a manifest', async () => {
    await tracesOf(console.url).send('to-export', 5);
    const page = await console.open('/destinations/new', { expected: /422/ });
    await enterKey(page);
    await page.getByRole('button', { name: 'Test and create' }).click();
    await page.getByRole('alert').filter({ hasText: 'Enter a name of letters, digits, spaces' }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'Enter the name of the bucket.' }).waitFor();
    await page.getByLabel('Name').fill('disk');
    await page.getByLabel('Type').selectOption('file');
    await page.getByLabel('Folder', { exact: true }).fill('../outside');
    await page.getByRole('button', { name: 'Test and create' }).click();
    await page.getByRole('alert').filter({ hasText: 'must not have' }).waitFor();
    await expect
      .poll(() => page.getByLabel('Folder', { exact: true }).getAttribute('aria-invalid'))
      .toBe('true');
    await page.getByLabel('Folder', { exact: true }).fill('lake');
    await page.getByRole('button', { name: 'Test and create' }).click();
    await page.getByRole('heading', { name: 'disk' }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('heading', { name: 'Exports can be written here' }).waitFor();

    await page.getByRole('link', { name: 'Its exports' }).click();
    await page.getByRole('heading', { name: 'No export matches the filter' }).waitFor();
    await page.getByRole('button', { name: 'New export…' }).click();
    // The list has fields of these names too.
    await page.getByRole('heading', { name: 'New export' }).waitFor();
    expect(await page.getByLabel('Format of Parquet files').evaluate(fits)).toBe(true);
    await page.getByLabel('Project').selectOption('to-export');
    await page.getByLabel('Destination').selectOption('disk (lake)');
    await page.getByLabel('Started at or after').fill(fieldTime(Date.now() - dayMs));
    await page.getByLabel('Started before').fill('');
    await page.getByLabel('Filter').fill('gt(name, 5)');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('alert').filter({ hasText: 'end_time is required' }).waitFor();
    await page.getByLabel('Started before').fill(fieldTime(Date.now() + dayMs));
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('alert').filter({ hasText: 'gt() cannot be used with name' }).waitFor();
    await page.getByLabel('Filter').fill('eq(run_type, "tool")');
    await page.getByLabel('The usual 29 columns').uncheck();
    await page.getByLabel('latency_ms').check();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('status').filter({ hasText: '5 rows. Nothing has been created.' }).waitFor();

    await page.getByRole('button', { name: 'Create the export' }).click();
    await badge(page, 'completed').waitFor();
    await page.getByText(/ of \d days · 5 rows/).waitFor();
    expect(await progressTone(page)).toBe('green');
    const exportId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const created = await tracesOf(console.url).client.exports.get(exportId);
    expect(created.export_fields).toContain('latency_ms');
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('cell', { name: 'file_written' }).first().waitFor();
    await page.getByRole('tab', { name: 'Manifest' }).click();
    await page.getByRole('button', { name: 'Copy the manifest as JSON' }).waitFor();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('cell', { name: /part-00000\.parquet/ }).waitFor();
    await page.reload();
    await page.getByRole('cell', { name: /part-00000\.parquet/ }).waitFor();
    await page.getByRole('button', { name: 'Export again…' }).click();
    await expect.poll(() => page.getByLabel('Filter').inputValue()).toBe('eq(run_type, "tool")');
  });

  it('show retries with the error of the store, and are cancelled', async () => {
    const traces = tracesOf(console.url);
    await traces.send('to-bucket', 2);
    await traces.send('to-bucket', 2, dayMs);
    await using store = await startObjectStore();
    const destination = await bucket(traces, 'bucket', store);
    store.refusal = quotaExceeded;
    const created = await startExport(traces, 'to-bucket', destination.id);
    await untilRetried(traces, created.id, 2);
    const page = await console.open(`/exports?destination=${destination.id}`);
    await enterKey(page);
    await page.getByRole('link', { name: `Export ${created.id}` }).click();
    await page.getByText('2 days are retried after the same error').waitFor();
    await page
      .getByRole('cell', { name: /QuotaExceeded.*The bucket has 20 of 20 GB/ })
      .first()
      .waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: 'QuotaExceeded' })
      .first()
      .getByRole('button', { name: /^Attempts of/ })
      .click();
    await page.getByRole('region', { name: 'Attempts' }).getByText('attempt 1').waitFor();
    expect(new URL(page.url()).searchParams.get('run')).not.toBeNull();
    expect(await progressTone(page)).toBe('blue');
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('button', { name: 'Cancel the export' }).click();
    await badge(page, 'cancelled').waitFor();
    expect(await progressTone(page)).toBe('grey');
    await page.getByRole('tab', { name: 'Manifest' }).click();
    await page.getByRole('heading', { name: 'There is no manifest' }).waitFor();

    store.refusal = { status: 403, code: 'InvalidAccessKeyId', message: 'The key id does not exist here.' };
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByRole('link', { name: 'bucket', exact: true }).click();
    await page.getByText(/secret_access_key is set/).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('heading', { name: 'Exports cannot be written here' }).waitFor();
    await page.getByRole('cell', { name: 'InvalidAccessKeyId', exact: true }).waitFor();
    await page.getByText('The key id does not exist here.').waitFor();
  });

  it('that fail or are retried are on the page of their destination, with the error of the store', async () => {
    const traces = tracesOf(console.url);
    await traces.send('to-failing', 2);
    await using store = await startObjectStore();
    const destination = await bucket(traces, 'failing', store);
    store.refusal = { status: 403, code: 'InvalidAccessKeyId', message: 'The key id does not exist here.' };
    const failed = await startExport(traces, 'to-failing', destination.id);
    await expect.poll(async () => (await traces.client.exports.get(failed.id)).status).toBe('FAILED');
    store.refusal = quotaExceeded;
    const retried = await startExport(traces, 'to-failing', destination.id);
    await untilRetried(traces, retried.id, 1);
    const page = await console.open(`/destinations/${destination.id}`);
    await enterKey(page);
    const row = (id: string) =>
      page
        .getByRole('region', { name: 'Newest failures' })
        .getByRole('listitem')
        .filter({ has: page.getByRole('link', { name: `Export ${id}` }) });
    await row(failed.id).getByText('failed', { exact: true }).waitFor();
    await row(failed.id)
      .getByText(/The key id does not exist here/)
      .waitFor();
    await row(retried.id).getByText('retrying').waitFor();
    await row(retried.id)
      .getByText(/The bucket has 20 of 20 GB/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await traces.client.exports.cancel(retried.id);
    await expect.poll(() => row(retried.id).count()).toBe(0);
  });

  it('have credentials for a bucket, and none for a folder', async () => {
    const traces = tracesOf(console.url);
    await using store = await startObjectStore();
    const { id: bucketId } = await bucket(traces, 'with-credentials', store);
    const { id: folderId } = await folder(traces, 'without-credentials');
    const page = await console.open(`/destinations/${bucketId}`);
    await enterKey(page);
    await page.getByRole('definition').filter({ hasText: 'secret_access_key is set' }).waitFor();
    await page.goto(`${console.url}/console/destinations/${folderId}`);
    await page.getByRole('term').filter({ hasText: 'Place' }).waitFor();
    expect(await page.getByRole('term').filter({ hasText: 'Credentials' }).count()).toBe(0);
  });

  it('keep their destination from being deleted, and the next question has no error yet', async () => {
    const traces = tracesOf(console.url);
    await traces.send('to-keep', 1);
    const { id } = await folder(traces, 'kept');
    await startExport(traces, 'to-keep', id);
    const page = await console.open(`/destinations/${id}`, { expected: /409/ });
    await enterKey(page);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the destination' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0);
  });

  it('leave the credentials of a destination as they are when new ones do not work', async () => {
    await using store = await startObjectStore();
    const traces = tracesOf(console.url);
    const destination = await bucket(traces, 'rotated', store);
    const page = await console.open(`/destinations/${destination.id}`, { expected: /400|409|422/ });
    await enterKey(page);
    store.refusal = { status: 403, code: 'InvalidAccessKeyId', message: 'The key id does not exist here.' };
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('heading', { name: 'Exports cannot be written here' }).waitFor();
    store.refusal = undefined;
    await page.getByRole('button', { name: 'Change credentials…' }).click();
    await page.getByLabel('Access key id').fill('with spaces');
    await page.getByLabel('Secret access key').fill('another');
    await page.getByRole('button', { name: 'Test and change' }).click();
    await page.getByRole('alert').filter({ hasText: 'printable ASCII' }).waitFor();
    store.refusal = { status: 403, code: 'SignatureDoesNotMatch', message: 'The signature is wrong.' };
    await page.getByLabel('Access key id').fill('AKIAOTHEROTHEROTHER1');
    await page.getByRole('button', { name: 'Test and change' }).click();
    await page.getByRole('alert').filter({ hasText: 'The signature is wrong.' }).waitFor();
    store.refusal = undefined;
    await page.getByLabel('Secret access key').press('Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => page.getByRole('region', { name: 'Connection check' }).count()).toBe(0);
    await page
      .getByRole('status')
      .filter({ hasText: 'The credentials were changed' })
      .getByRole('link', { name: 'Failed exports' })
      .click();
    await page.getByRole('heading', { name: 'No export matches the filter' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the destination' }).click();
    await page.waitForURL(/\/destinations$/);
    await expect(traces.client.destinations.get(destination.id)).rejects.toThrow('404');
  });

  it('say what a key that only reads may not do', async () => {
    const { client } = tracesOf(console.url);
    const viewer = await client.keys.create({ role: 'viewer' });
    const page = await console.open('/exports/new');
    await enterKey(page, viewer.key);
    await page.getByText('This needs a key with the role admin; yours is viewer.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Create the export' }).isDisabled()).toBe(true);
    await page.goto(`${console.url}/console/exports?status=timedout`);
    await page.getByRole('heading', { name: 'No export matches the filter' }).waitFor();
  });

  it.each([
    ['ask for a project and a destination', 2, ['Choose a project.', 'Choose a destination.']],
    ['have the only project and destination', 1, []],
  ])('%s', async (_, count, sentences) => {
    const page = await console.open('/exports', { expected: /404|422/ });
    await enterKey(page);
    const ids = Array.from({ length: count }, (_one, index) => `00000000-0000-4000-8000-00000000000${index}`);
    await page.route('**/api/v1/sessions?*', (route) =>
      route.fulfill({ json: ids.map((id) => ({ id, name: `project ${id}` })) }),
    );
    await page.route('**/bulk-exports/destinations', (route) =>
      route.fulfill({
        json: ids.map((id) => ({ id, display_name: 'disk', destination_type: 'file', config: { path: id } })),
      }),
    );
    await page.goto(`${console.url}/console/exports/new`);
    await page
      .getByRole('option', { name: /^project / })
      .first()
      .waitFor({ state: 'attached' });
    await page
      .getByRole('option', { name: /^disk / })
      .first()
      .waitFor({ state: 'attached' });
    const chosen = count === 1 ? ids[0] : '';
    await expect.poll(() => page.getByLabel('Project').inputValue()).toBe(chosen);
    await expect.poll(() => page.getByLabel('Destination').inputValue()).toBe(chosen);
    let sent = 0;
    page.on(
      'request',
      (request) => (sent += request.method() === 'POST' && request.url().includes('/bulk-exports') ? 1 : 0),
    );
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('alert').first().waitFor();
    if (sentences.length > 0) {
      await expect.poll(() => page.getByRole('alert').allInnerTexts()).toEqual(sentences);
      expect(sent).toBe(0);
    } else expect(sent).toBe(1);
  });

  it('that do not exist say so', async () => {
    const page = await console.open('/exports/00000000-0000-4000-8000-000000000000', { expected: /404/ });
    await enterKey(page);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });
});

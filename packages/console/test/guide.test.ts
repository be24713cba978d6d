// The guide that the server has at /docs/guide.
import { expect, it } from 'vitest';
import { describeInBrowser, type Page, seriousFindings, useConsole } from './browser.ts';

const guideAt = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

describeInBrowser('the guide', () => {
  const console = useConsole();

  it('is opened from the console', async () => {
    const page = await console.open('/');
    const link = page.getByRole('link', { name: 'Guide' });
    await expect.poll(() => link.getAttribute('href')).toBe(`${console.url}/docs/guide/`);
    await page.goto(`${console.url}/docs/guide`);
    await guideAt(page, 'svc');
    expect(page.url()).toBe(`${console.url}/docs/guide/`);
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByRole('link', { name: 'guide' }).click();
    await guideAt(page, 'svc');
  });

  it.each(['light', 'dark'] as const)('finds a section by the keyboard alone, in %s', async (colorScheme) => {
    const page = await console.open('/../docs/guide/exports.html', { colorScheme });
    await guideAt(page, 'Exports');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: 'Search the guide' }).waitFor();
    await page.keyboard.type('double texting');
    const results = page.getByRole('dialog', { name: 'Search' }).getByRole('link');
    await results.first().waitFor();
    await expect.poll(() => results.first().textContent()).toMatch(/double texting/i);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/guide/runs-that-survive.html#*');
    await guideAt(page, 'Runs that survive failures');
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(background).toBe(colorScheme === 'light' ? 'rgb(251, 251, 253)' : 'rgb(17, 17, 20)');
  });

  it('says that a search finds nothing, and closes', async () => {
    const page = await console.open('/../docs/guide/exports.html');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.keyboard.type('xyzzyplugh');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  it('shows its pictures, and copies a sample', async () => {
    const page = await console.open('/../docs/guide/exports.html');
    const picture = page.getByRole('img').first();
    await picture.scrollIntoViewIfNeeded();
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
    await page.locator('.sample').first().hover();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      'npx svc dev --config examples/agent',
    );
  });

  it('has a list of its pages on a narrow screen, and no page is wider than the screen', async () => {
    const page = await console.open('/../docs/guide/configuration.html', {
      viewport: { width: 390, height: 800 },
    });
    const link = page.getByRole('link', { name: 'Webhooks', exact: true });
    await expect.poll(() => link.count()).toBe(0);
    await page.getByRole('button', { name: 'Pages' }).click();
    await link.click();
    await guideAt(page, 'Webhooks');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });
});

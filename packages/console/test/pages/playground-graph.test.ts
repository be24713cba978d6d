import { expect, it } from 'vitest';
import { describeInBrowser, useConsole, type Page } from '../browser.ts';

/** Counts the edges in each frame from now on. The function returns the lowest and the highest count so far. */
const countEdges = async (page: Page): Promise<() => Promise<number[]>> => {
  const counts = await page.evaluateHandle(() => {
    const seen = [Infinity, 0];
    const count = (): void => {
      const edges = document.querySelectorAll('.react-flow__edge-path').length;
      seen[0] = Math.min(seen[0] ?? edges, edges);
      seen[1] = Math.max(seen[1] ?? edges, edges);
      requestAnimationFrame(count);
    };
    count();
    return seen;
  });
  return () => counts.evaluate((seen) => [...seen]);
};

describeInBrowser('the graph of the playground', () => {
  const console = useConsole();

  it('keeps its edges in every frame while runs light its nodes', async () => {
    const page = await console.open('/playground?assistant=agent');
    const edges = page.locator('.react-flow__edge-path');
    await edges.first().waitFor({ state: 'attached' });
    const all = await edges.count();
    const counted = await countEdges(page);
    for (const at of [0, 1, 2]) {
      await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
      await page.keyboard.press('Enter');
      await page.getByText('The weather: snow, -3 °C.').nth(at).waitFor();
      await page.locator('.badge', { hasText: 'success' }).first().waitFor();
    }
    expect(await counted()).toEqual([all, all]);
  });
});

import { expect, it } from 'vitest';
import { describeInBrowser, shownByAPoll, useConsole, type Page } from '../browser.ts';

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

  it('is drawn in layers, with a note, when its layout takes too long', async () => {
    const ids = Array.from({ length: 600 }, (_, index) => `node ${index}`);
    const graph = {
      nodes: ids.map((id) => ({ id, type: 'runnable', data: { id, name: id } })),
      edges: ids.flatMap((source, index) =>
        ids.slice(index + 1, index + 30).map((target) => ({ source, target })),
      ),
    };
    const page = await console.open('/', { hasClock: true });
    await page.route('**/assistants/*/graph*', (route) => route.fulfill({ json: graph }));
    await page.goto(`${console.url}/console/playground?assistant=agent`);
    await shownByAPoll(page, page.getByText('The graph is too large to arrange its edges'));
    const top = async (id: string): Promise<number> =>
      (await page.getByTitle(id, { exact: true }).boundingBox())?.y ?? Number.NaN;
    expect(await top('node 0')).toBeLessThan(await top('node 1'));
    expect(await top('node 1')).toBeLessThan(await top('node 40'));
  });
});

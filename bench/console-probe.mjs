// Runs in every page that bench:console opens, before the code of the page, and measures with the clock of the page.
globalThis.svcProbe = (() => {
  const longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({
    type: 'longtask',
    buffered: true,
  });

  const isShown = ({ selector, text, heading, count, above }) => {
    if (heading !== undefined && document.querySelector('h1')?.textContent !== heading) return false;
    const found = [...document.querySelectorAll(selector)];
    if (count !== undefined) return found.length === count;
    if (above !== undefined) return found.length > above;
    return found.some((element) => text === undefined || element.textContent.includes(text));
  };

  /** The time at which the page has drawn it; undefined after the limit. */
  const whenShown = (shown, limitMs, mayBegin = () => true) =>
    new Promise((resolve) => {
      const until = performance.now() + limitMs;
      const look = () => {
        if (mayBegin() && isShown(shown)) setTimeout(() => resolve(performance.now()));
        else if (performance.now() > until) resolve(undefined);
        else requestAnimationFrame(look);
      };
      look();
    });

  let pending;
  let recorded;
  return {
    whenShown,
    isShown,
    /** Measures from the next key or press of a button, which may wait for a busy page, until it is shown. */
    arm(shown, limitMs) {
      let startedAt;
      const start = (event) => (startedAt ??= event.timeStamp);
      for (const name of ['keydown', 'pointerdown', 'wheel'])
        addEventListener(name, start, { capture: true, once: true });
      pending = whenShown(shown, limitMs, () => startedAt !== undefined).then((at) =>
        at === undefined ? undefined : { ms: at - startedAt, longestTaskMs: longestAfter(startedAt) },
      );
    },
    result: () => pending,
    /** Records the times between frames, and how many elements the page has at most. */
    record(selector) {
      recorded = { deltas: [], most: 0, scrolls: 0, isOn: true };
      const own = recorded;
      addEventListener('scroll', () => own.scrolls++, { capture: true, passive: true });
      let last;
      const frame = (now) => {
        if (last !== undefined) own.deltas.push(now - last);
        last = now;
        own.most = Math.max(own.most, document.querySelectorAll(selector).length);
        if (own.isOn) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    },
    stop() {
      recorded.isOn = false;
      const { deltas, most, scrolls } = recorded;
      return { deltas, most, scrolls };
    },
  };

  function longestAfter(time) {
    return Math.max(
      0,
      ...longTasks.filter((task) => task.startTime + task.duration > time).map(({ duration }) => duration),
    );
  }
})();

// After an upgrade of the server, an open page requests chunks that no longer exist. A reload gets the new page.
const storageKey = 'svc-console-reloaded';

/** Reloads when a chunk is missing, at most once in ten seconds. */
export const reloadOnceFor = (page: Window): void => {
  page.addEventListener('vite:preloadError', (event) => {
    const last = Number(page.sessionStorage.getItem(storageKey) ?? '0');
    if (Date.now() - last < 10_000) return;
    event.preventDefault();
    page.sessionStorage.setItem(storageKey, String(Date.now()));
    page.location.reload();
  });
};

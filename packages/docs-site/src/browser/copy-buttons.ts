/** A button that copies a sample. Browsers have no clipboard for pages over plain HTTP of another machine. */
export const addCopyButtons = (): void => {
  if (!window.isSecureContext) return;
  for (const sample of document.querySelectorAll('main pre')) {
    const box = document.createElement('div');
    box.className = 'sample';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(sample.textContent.trimEnd()).then(
        () => (button.textContent = 'Copied'),
        () => (button.textContent = 'Not copied'),
      );
    });
    sample.replaceWith(box);
    box.append(sample, button);
  }
};

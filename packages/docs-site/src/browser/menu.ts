/** The list of pages on a narrow screen, where it is hidden until somebody opens it. */
export const addMenu = (tools: HTMLElement): void => {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'menu-button';
  button.textContent = 'Pages';
  button.setAttribute('aria-controls', 'pages');
  const show = (isOpen: boolean): void => {
    document.documentElement.classList.toggle('menu-open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'));
  document.documentElement.classList.add('has-menu');
  show(false);
  tools.append(button);
  // The list is longer than most screens.
  document.querySelector('#pages [aria-current]')?.scrollIntoView({ block: 'nearest' });
};

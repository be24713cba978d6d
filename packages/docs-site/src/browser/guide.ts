// The script of every page of the guide. Pages can be read without it.
import { addCopyButtons } from './copy-buttons.ts';
import { addMenu } from './menu.ts';
import { addSearch } from './search.ts';

const tools = document.getElementById('tools');
const source = document.currentScript?.dataset['search'];
if (tools) {
  if (source !== undefined) addSearch(tools, source);
  addMenu(tools);
}
addCopyButtons();
// A page that is opened as a file has no server.
if (location.protocol === 'file:') document.querySelector('.reference')?.remove();

/** How inputs and outputs are shown. `json`: as JSON, also where they have messages. */
export type PayloadForm = 'rendered' | 'json';

interface Search {
  payload?: 'json' | undefined;
}

/** The address with this form, which holds for all spans of the page. */
export const withForm = <T extends Search>(search: T, form: PayloadForm): T => ({
  ...search,
  payload: form === 'json' ? form : undefined,
});

// The database that an import writes to. A dry run looks at it, if it exists, and writes nothing.
import type { Database } from '../storage/postgres/database.ts';
import {
  type AssistantImport,
  assistantImportStorage,
  type AssistantOutcome,
} from '../storage/deployment/assistants/assistant-imports.ts';
import { type ItemImport, itemImportStorage } from '../storage/deployment/store/item-imports.ts';
import { threadImportStorage } from '../storage/deployment/threads/thread-imports.ts';

export interface Target {
  importAssistant(assistant: AssistantImport): Promise<AssistantOutcome>;
  /** Returns how many items were added. */
  importItems(items: ItemImport[]): Promise<number>;
  /** Which of these threads exist. */
  existingThreads(thread_ids: string[]): Promise<ReadonlySet<string>>;
}

export const databaseTarget = (db: Database): Target => {
  const [assistants, items, threads] = [
    assistantImportStorage(db),
    itemImportStorage(db),
    threadImportStorage(db),
  ];
  return {
    importAssistant: (assistant) => assistants.import(assistant),
    importItems: (some) => items.import(some),
    existingThreads: async (ids) => new Set(await threads.listExisting(ids)),
  };
};

/** `db`: undefined when there is no database yet. */
export const dryTarget = (db: Database | undefined): Target => {
  if (!db)
    return {
      importAssistant: () => Promise.resolve('imported'),
      importItems: (some) => Promise.resolve(some.length),
      existingThreads: () => Promise.resolve(new Set()),
    };
  const [assistants, items] = [assistantImportStorage(db), itemImportStorage(db)];
  const found = databaseTarget(db);
  return {
    existingThreads: (ids) => found.existingThreads(ids),
    async importAssistant({ assistant_id }) {
      return (await assistants.listExisting([assistant_id])).length > 0 ? 'exists' : 'imported';
    },
    importItems: async (some) => some.length - (await items.countExisting(some)),
  };
};

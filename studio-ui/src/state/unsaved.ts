/** Unsaved texts in IndexedDB, by project and path: they come back after a reload, a crash, a lost server. */

export interface Unsaved {
  project: string;
  path: string;
  text: string;
  saved: string;
  etag: string | null;
}

let opened: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("occurs-studio", 1);
    request.onupgradeneeded = () =>
      request.result.createObjectStore("unsaved", { keyPath: ["project", "path"] });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function run<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction("unsaved", mode);
    const request = work(transaction.objectStore("unsaved"));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

export async function keep(unsaved: Unsaved): Promise<void> {
  await run("readwrite", (store) => store.put(unsaved));
}

export async function forget(project: string, path: string): Promise<void> {
  await run("readwrite", (store) => store.delete([project, path]));
}

export async function kept(project: string): Promise<Unsaved[]> {
  return run("readonly", (store) => store.getAll(IDBKeyRange.bound([project, ""], [project, "\uffff"])));
}

/** Sizes of panels as they were left, kept by the browser for all projects. */

/** What is kept under a name, over `initial`: members of another type than there count as not kept. */
export function keptSizes<T extends object>(name: string, initial: T): T {
  try {
    const found = JSON.parse(localStorage.getItem(name) ?? "{}") as Record<string, unknown>;
    const fits = Object.entries(found).filter(([key, value]) => {
      if (!(key in initial)) return false;
      const own = initial[key as keyof T];
      return own === null ? typeof value === "boolean" : typeof value === typeof own;
    });
    return { ...initial, ...Object.fromEntries(fits) };
  } catch {
    return initial;
  }
}

export function keepSizes(name: string, sizes: object): void {
  try {
    localStorage.setItem(name, JSON.stringify(sizes));
  } catch {
    // a browser that keeps nothing: the page works without
  }
}

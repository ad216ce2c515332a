/** The program that a project names: its rules, its events, its options. */
import type { FileEntry, Project } from "../api/types";

export function withProgram(project: Project, change: Partial<NonNullable<Project["program"]>>): Project {
  return { version: 1, ...project, program: { ...project.program, ...change } };
}

/** The rules of the program: those that the project lists, or all in the directory itself. */
export function rulesOf(project: Project, files: readonly FileEntry[]): string[] {
  const top = files.filter((file) => file.kind === "rules" && !file.path.includes("/"));
  return project.program?.rules ?? top.map((file) => file.path);
}

/** The project with a file of rules in the program, or not. */
export function withRule(
  project: Project,
  files: readonly FileEntry[],
  path: string,
  inside: boolean,
): Project {
  const rules = rulesOf(project, files);
  if (rules.includes(path) === inside) return project;
  return withProgram(project, { rules: inside ? [...rules, path] : rules.filter((one) => one !== path) });
}

/** The project without a file that was removed: its rules and events that name it. */
export function withoutFile(project: Project, path: string): Project {
  const { rules, events } = project.program ?? {};
  const named = (entry: string) => entry === path || entry.endsWith(`=${path}`);
  if (!rules?.includes(path) && !events?.some(named)) return project;
  return withProgram(project, {
    ...(rules && { rules: rules.filter((one) => one !== path) }),
    ...(events && { events: events.filter((one) => !named(one)) }),
  });
}

/** The text of the open file. */
import { CircleAlert, Info } from "lucide-react";
import { useEffect, useRef } from "react";
import { api } from "../api/client";
import type { CheckAnswer, Job, OutlineEntry, PlanAnswer, WhyAnswer } from "../api/types";
import { Button } from "../parts/Button";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { keyOf } from "../plan/model";
import {
  messageOfProblem,
  notify,
  replaceText,
  say,
  setEditor,
  showDefinition,
  stepDone,
  tell,
  textOf,
} from "../state/actions";
import { checkSoon, edited } from "../state/checking";
import { openExample, setInProgram } from "../state/files";
import { foundOf } from "../state/found";
import { rulesOf } from "../state/program";
import { get, set, useStudio } from "../state/store";
import { texts } from "../texts";
import { Editor } from "./editor";
import type { Explained } from "./explained";
import type { Fact } from "./facts";

async function format() {
  const { active, buffers } = get();
  const buffer = active ? buffers[active] : undefined;
  if (!active || !buffer?.writable) return;
  const before = textOf(active);
  try {
    const { text, problems } = await api.format(active, before);
    const [first] = problems;
    if (first) return notify("notice", texts.text.notFormatted, messageOfProblem(first));
    if (textOf(active) !== before) return;
    if (text === before) return say(texts.said.canonical);
    replaceText(active, text);
    checkSoon();
    say(texts.said.formatted);
  } catch (error) {
    tell(error, texts.text.notFormatted);
  }
}

function factsOf(
  path: string,
  outline: CheckAnswer["outline"],
  plan: PlanAnswer | null,
  job: Job | null,
): Fact[] | null {
  // without a plan, as while there are errors
  if (!plan && outline.length) return null;
  const t = texts.side;
  const out: Fact[] = [];
  for (const entry of outline) {
    if (entry.file !== path || !entry.span) continue;
    const planned = plan?.definitions.find((one) => one.name === entry.name);
    const found = planned ? foundOf(job, entry.output ?? entry.name) : null;
    const key = planned ? keyOf(planned) : [];
    const unbounded = planned?.retention.some((one) => one.unbounded) ?? false;
    if (found === null && !key.length && !unbounded) continue;
    const text = [
      entry.name,
      found !== null && texts.text.found(found),
      key.length && `${t.key}: ${key.join(", ")}`,
      unbounded && t.unbounded,
    ];
    out.push({
      line: entry.span.line,
      end: entry.span.end_line,
      name: entry.name,
      found,
      key,
      unbounded,
      text: text.filter(Boolean).join(" · "),
    });
  }
  return out;
}

/** The chosen detection, as the text shows it. */
function explainedOf(why: WhyAnswer | null): Explained | null {
  return why && { type: why.detection.type, role: null, constituents: why.constituents };
}

function typesOf(outline: CheckAnswer["outline"]): Set<string> {
  return new Set(outline.flatMap((entry) => (entry.output ? [entry.output, ...entry.reads] : entry.reads)));
}

/** The definition at a line of the file. */
function definitionAt(path: string, line: number): string | null {
  const inside = get().check.outline.filter(
    (entry) => entry.file === path && entry.span && entry.span.line <= line && line <= entry.span.end_line,
  );
  return inside.at(-1)?.name ?? null;
}

function useEditor() {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    let folds = { outline: get().check.outline, path: get().active, ends: new Map<number, number>() };
    folds.ends = endsOf(folds.outline, folds.path);
    const made = new Editor(parent.current, {
      changed: edited,
      moved(cursor, selected) {
        set({ cursor, selected });
        // while another view edits the text, that view says what is shown
        if (get().view === "Text") showDefinition(definitionAt(cursor.path, cursor.line));
      },
      history: (canUndo, canRedo) => set({ canUndo, canRedo }),
      format: () => void format(),
      stepped: stepDone,
      fact: (line) => {
        const { active } = get();
        if (!active) return;
        showDefinition(definitionAt(active, line));
        set(({ panels, narrow, drawer }) => ({
          panels: { ...panels, rightOpen: true, propertiesOpen: true },
          drawer: narrow ? "right" : drawer,
        }));
      },
      lastLine(line) {
        const { active, check } = get();
        if (folds.outline !== check.outline || folds.path !== active)
          folds = { outline: check.outline, path: active, ends: endsOf(check.outline, active) };
        return folds.ends.get(line);
      },
    });
    made.setDark(get().dark);
    made.setTypes(typesOf(get().check.outline));

    const wordsOf = (path: string) => {
      const { about, files } = get();
      const name = files.find((file) => file.path === path)?.language;
      const suffix = path.slice(path.lastIndexOf("."));
      return (
        about?.languages.find((one) => (name ? one.name === name : one.suffixes.includes(suffix)))?.words ??
        null
      );
    };
    const show = () => {
      const { active, buffers, check, plan, job } = get();
      const buffer = active ? buffers[active] : undefined;
      if (!active || !buffer || buffer.error) return;
      const other = made.path !== active;
      made.show(buffer, wordsOf(active));
      if (!other) return;
      made.setProblems(check.problems);
      made.setFacts(factsOf(active, check.outline, plan, job));
      made.setWhy(check.outline, explainedOf(get().why));
      made.setClauses(get().clauses);
    };
    const stops = [
      useStudio.subscribe((state) => (state.active ? state.buffers[state.active] : undefined), show),
      useStudio.subscribe(
        (state) => state.about,
        () => {
          if (made.path !== null) made.setWords(wordsOf(made.path));
        },
      ),
      useStudio.subscribe(
        (state) => state.dark,
        (now) => made.setDark(now),
      ),
      useStudio.subscribe(
        (state) => state.check,
        ({ state, problems, outline }) => {
          const { cursor, view } = get();
          if (state !== "done") return;
          made.setTypes(typesOf(outline));
          made.setProblems(problems);
          if (cursor && view === "Text") showDefinition(definitionAt(cursor.path, cursor.line));
        },
      ),
      useStudio.subscribe(
        (state) =>
          [state.check.outline, state.plan, state.job?.state, state.job?.id, state.job?.result] as const,
        () => {
          const { active, check, plan, job } = get();
          if (active && made.path === active) made.setFacts(factsOf(active, check.outline, plan, job));
        },
        { equalityFn: (a, b) => a.every((one, i) => one === b[i]) },
      ),
      useStudio.subscribe(
        (state) => [state.why, state.check.outline] as const,
        ([why, outline]) => made.setWhy(outline, explainedOf(why)),
        { equalityFn: (a, b) => a[0] === b[0] && a[1] === b[1] },
      ),
      useStudio.subscribe(
        (state) => state.clauses,
        (clauses) => made.setClauses(clauses),
      ),
      useStudio.subscribe(
        (state) => Object.keys(state.buffers).join("\n"),
        (now, before) => {
          const open = new Set(now.split("\n"));
          for (const path of before.split("\n")) if (!open.has(path)) made.forget(path);
        },
      ),
    ];
    show();
    setEditor({
      undo: () => made.undo(),
      redo: () => made.redo(),
      reveal(place, focus) {
        show();
        if (made.path !== place.path) return;
        made.reveal(place, false);
        // the view may still be hidden: the focus follows when it is shown
        if (focus) requestAnimationFrame(() => made.focus());
      },
      change(path, edits, step) {
        show();
        if (made.path !== path) return false;
        made.change(edits, step);
        return true;
      },
      format: () => void format(),
      ask: (what) => made.ask(what),
      prepare(path) {
        const buffer = get().buffers[path];
        if (buffer && !buffer.error) made.prepare(buffer, wordsOf(path));
      },
      search: () => made.search(),
    });
    return () => {
      setEditor(null);
      for (const stop of stops) stop();
      made.destroy();
    };
  }, []);
  return parent;
}

/** By the first line of each definition of a file its last one, of those with several lines. */
function endsOf(outline: readonly OutlineEntry[], path: string | null): Map<number, number> {
  const spans = outline.flatMap(({ file, span }) => (file === path && span ? [span] : []));
  const long = spans.filter((span) => span.end_line > span.line);
  return new Map(long.map((span) => [span.line, span.end_line]));
}

export default function TextView() {
  const parent = useEditor();
  const ready = useStudio((state) => state.ready);
  const active = useStudio((state) => state.active);
  const buffer = useStudio((state) => (state.active ? state.buffers[state.active] : undefined));
  const rules = useStudio((state) => state.files.some((file) => file.kind === "rules"));
  const rows = useStudio((state) =>
    state.files.some((file) => file.path === state.active && file.kind === "event"),
  );
  const outside = useStudio(
    ({ active, project, files }) =>
      files.some((file) => file.path === active && file.kind === "rules") &&
      active !== null &&
      !rulesOf(project, files).includes(active),
  );
  const examples = useStudio((state) => state.about?.examples) ?? [];
  const shown = Boolean(active && buffer && !buffer.error);
  return (
    <div className="text-view">
      {shown && buffer?.trouble ? (
        <div className="file-note file-trouble" role="alert">
          <CircleAlert size={14} aria-hidden />
          <span>{buffer.trouble}</span>
        </div>
      ) : null}
      {shown && outside && active ? (
        <div className="file-note">
          <Info size={14} aria-hidden />
          <span>{texts.files.outside}</span>
          <Button onPress={() => void setInProgram(active, true)}>{texts.files.add}</Button>
        </div>
      ) : null}
      {shown && rows && buffer?.dirty ? (
        <div className="file-note">
          <Info size={14} aria-hidden />
          <span>{texts.files.runsSaved}</span>
        </div>
      ) : null}
      <div className="editor" ref={parent} hidden={!shown} />
      {buffer?.error ? <ErrorBox title={active ?? ""} text={buffer.error} /> : null}
      {!active && ready ? (
        rules ? (
          <Empty title={texts.text.choose} text={texts.text.chooseText} />
        ) : (
          <Empty title={texts.welcome.title} text={texts.welcome.text}>
            <Button kind="main" onPress={() => set({ dialog: "new-file" })}>
              {texts.welcome.write}
            </Button>
            {examples.map((name) => (
              <Button key={name} onPress={() => void openExample(name)}>
                {texts.welcome.example(name)}
              </Button>
            ))}
          </Empty>
        )
      ) : null}
      {!ready ? <Skeleton rows={12} /> : null}
    </div>
  );
}
